"""The load test: PROGRAMS DIRECTORY. Three replicas behind nginx, on PostgreSQL and S3, in a world of
their own; agents talk, everything is broken at random, and afterwards everything is read back.

Sizes come from the environment; without them it is what the fleet has to show.
"""

import json
import os
import signal
import subprocess
import sys
import time

import sabotage
import secrets_found
from faults import Faults, Upgrade
from fleet import Fleet
from world import World


def size(name, usual):
    return int(os.environ.get(f"LOAD_{name}", usual))


SESSIONS = size("SESSIONS", 2000)
TURNS = size("TURNS", 50)
AT_ONCE = size("AT_ONCE", 48)
#: One turn in so many brings a new picture: a bucket in Python is slow.
EVERY = size("EVERY", 10)
#: Of a hundred sessions, those that upload.
UPLOADING = size("UPLOADING", 50)
#: One promised turn in so many is made again; all of them are looked up.
REMAKE = size("REMAKE", 10)
TENANTS = size("TENANTS", 4)
SEED = size("SEED", 10)
#: Seconds between faults; 0 for fair weather.
GAP = size("GAP", 6)
S3 = os.environ.get("LOAD_S3", "swift")
#: Fair weather; then things are broken by hand, and it is a failure if nobody notices.
SABOTAGE = "LOAD_SABOTAGE" in os.environ
#: The program that the fleet begins with. Instead of faults, each replica is replaced by one of the newer program.
OLDER = os.environ.get("LOAD_OLDER")


def agents(fleet, tenants, faults):
    """Runs them to their end, in whatever weather; their report."""
    directory = fleet.world.directory
    command = fleet.world.command(
        "agents", fleet.programs / "fleet-test-agents", "--to", f"{fleet.world.addresses['front']}:80",
        "--tenants", tenants, "--journal", directory / "journal", "--samples", directory / "samples",
        "--sessions", SESSIONS, "--turns", TURNS, "--at-once", AT_ONCE, "--every", EVERY,
        "--uploading", UPLOADING)
    with open(directory / "report", "wb") as out:
        running = subprocess.Popen(command, stdout=out)
    if GAP or OLDER:
        faults.run(lambda: running.poll() is not None)
    running.wait()
    return json.loads((directory / "report").read_text() or sys.exit("load: the agents fell silent"))


def check(fleet, tenants):
    """Reads everything back; what the witness found."""
    directory = fleet.world.directory
    addresses = [word for address in fleet.replica_addresses() for word in ("--replica", address)]
    command = fleet.world.command(
        "agents", fleet.programs / "fleet-test-check", "--journal", directory / "journal",
        "--tenants", tenants, "--postgres", fleet.postgres, "--bucket", fleet.bucket,
        "--remake", REMAKE, "--samples", directory / "samples", *addresses)
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **fleet.environment})
    if not ran.stdout:
        raise SystemExit("load: the witness fell silent")
    return json.loads(ran.stdout)


def exposed(fleet, tenants):
    """What was found of the secrets, and how much was searched."""
    world, directory = fleet.world, fleet.world.directory
    secrets = [word for line in tenants.read_text().splitlines() for word in line.split()[1:]]
    # The secret half of a key is one by itself.
    secrets += [secret.rsplit("_", 1)[1] for secret in secrets if secret.startswith("pk_")]
    secrets.append(fleet.environment["AWS_SECRET_ACCESS_KEY"])
    for name in fleet.names:
        (world.logs / f"{name}.metrics").write_text(fleet.get(name, "/metrics"))
    port = (directory / "postgres" / "postgres" / "postmaster.pid").read_text().splitlines()[3]
    with open(directory / "database.sql", "wb") as dump:
        world.within("postgres", "pg_dump", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "postgres",
                     stdout=dump, text=False)
    logs = [*world.logs.iterdir(), directory / "traces.jsonl", directory / "postgres" / "postgres" / "log"]
    logs += sorted((directory / "s3").glob("**/*.log"))
    stored = [directory / "database.sql", directory / "journal"]
    objects = secrets_found.files(directory / "s3" / "swift" / "devices")
    if objects:
        secrets_found.metadata(directory / "s3" / "swift" / "devices", directory / "objects")
        stored.append(directory / "objects")
    found = secrets_found.search(logs, secrets, runs=True)
    found += secrets_found.search([*stored, *objects], secrets)
    # Whoever looks for them must be able to find them.
    blind = [*secrets_found.search([tenants], secrets)]
    if len(blind) < len(secrets) - 1:
        raise SystemExit("load: the search is blind")
    bytes_searched = sum(path.stat().st_size for path in [*logs, *stored, *objects])
    return found, len(logs) + len(stored) + len(objects), bytes_searched


def main():
    programs, directory = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("load: told to stop"))
    begun = time.monotonic()
    done = lambda what: print(f"{what} after {time.monotonic() - begun:.0f} s", flush=True)
    world = World(directory)
    try:
        fleet = Fleet(world, programs, s3=S3, photic=OLDER)
        tenants = fleet.keys(TENANTS)
        done("the fleet is up")
        faults = Upgrade(fleet, f"{programs}/photic") if OLDER else Faults(fleet, SEED, GAP)
        report = agents(fleet, tenants, faults)
        spent = world.spent()
        done("the agents are done")
        fleet.until_ready()
        if SABOTAGE:
            sabotage.all_of_it(fleet, tenants)
        found = check(fleet, tenants)
        done("the witness is done")
        leaks, files, searched = exposed(fleet, tenants)
        tell(report, faults.counts, found, leaks, (files, searched), spent)
        done("all is done")
    finally:
        world.close()
    if SABOTAGE:
        sys.exit(sabotage.unnoticed(found, leaks) or 0)
    wrong = [*report["failed"], *found["complaints"], *map(str, leaks)]
    if report["acknowledged"] == 0:
        wrong.append("nothing was acknowledged")
    if found["promised"] != report["acknowledged"]:
        wrong.append("not every promise was looked at")
    for line in wrong[:40]:
        print(f"WRONG: {line}"[:500])
    sys.exit(1 if wrong else 0)


def tell(report, faults, found, leaks, searched, spent):
    lines = [
        ("sessions that came to their end", f"{report['sessions']} of {SESSIONS}"),
        ("turns", report["turns"]),
        ("faults", sum(faults.values())),
        *((f"  {name.replace('_', ' ')}", count) for name, count in sorted(faults.items())),
        ("requests sent again", report["retries"]),
        ("pictures uploaded", report["uploads"]),
        ("turns acknowledged", report["acknowledged"]),
        ("turns not acknowledged", report["unacknowledged"]),
        ("acknowledged turns lost", found["lost"]),
        ("turns made again, byte for byte", found["reproduced"]),
        ("pictures read back", found["pictures"]),
        ("rows of audits, in whole chains", found["audited"]),
        ("answers to strangers compared", found["foreign"]),
        ("requests compared on all replicas", found["compared"]),
        ("files searched for secrets", f"{searched[0]} ({searched[1] >> 20} MiB)"),
        ("secrets found", len(leaks)),
        ("seconds under load", f"{report['seconds']:.0f}"),
        ("turns a second", f"{report['turns'] / report['seconds']:.0f}"),
    ]
    for name, value in lines:
        print(f"{name:<40} {value}")
    total = sum(seconds for _, seconds in spent)
    print(f"CPU seconds under load: {total:.0f}")
    for (node, name), seconds in spent:
        if seconds >= total / 200:
            share = seconds / max(report["turns"], 1) * 1000
            print(f"  {node + ' ' + name:<38} {seconds:7.1f}  {seconds / total:4.0%}  {share:5.2f} ms a turn")


if __name__ == "__main__":
    main()
