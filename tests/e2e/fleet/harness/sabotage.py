"""Breaks by hand what the load test claims to be whole: a witness who has never seen a loss proves nothing."""

import json


def all_of_it(fleet, tenants):
    directory = fleet.world.directory
    lines = [json.loads(line) for line in (directory / "journal").read_text().splitlines()]
    turns = [line for line in lines if line["what"] == "turn" and line["acknowledged"]]

    # A turn that was promised is gone.
    session, number = turns[0]["acknowledged"].split("/")
    ask(fleet, f"DELETE FROM turn USING session WHERE session.id = turn.session AND name = '{session}' "
               f"AND number = {number}")
    # Another is of a body that the upstream never got.
    session, number = turns[1]["acknowledged"].split("/")
    ask(fleet, f"UPDATE turn SET digest = sha256(digest) FROM session WHERE session.id = turn.session "
               f"AND name = '{session}' AND number = {number}")
    # A row of an audit says something else; the database refuses that to all but its owner.
    ask(fleet, "SET session_replication_role = replica; UPDATE audit SET bytes_in = bytes_in + 1 WHERE number = 2")
    # Objects have other bytes than were stored.
    objects = sorted((directory / "s3" / "swift" / "devices").rglob("*.data"))
    for path in objects[:3]:
        whole = path.read_bytes()
        path.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    # A key and a picture stand in a log.
    key = tenants.read_text().split()[2]
    with open(fleet.world.logs / "replica1.log", "a") as log:
        log.write(f"{key}\n{'iVBORw0KGgo' * 30}\n")


def ask(fleet, statement):
    said = fleet.world.within("agents", "psql", "-At", fleet.postgres, "-c", statement)
    assert said.split()[-1] != "0", (statement, said)


def unnoticed(found, leaks):
    """What nobody noticed, in words; nothing, if all was."""
    said = " ".join(found["complaints"])
    noticed = {
        "a turn that is gone": "it is not there" in said,
        "a turn of another body": "of another body" in said,
        "a row of an audit": "is broken at" in said,
        "a picture": "picture " in said,
        "a key in a log": any("secret" in what for _, what in leaks),
        "a picture in a log": any("base64" in what for _, what in leaks),
    }
    return "\n".join(f"WRONG: nobody noticed {what}" for what, was in noticed.items() if not was)
