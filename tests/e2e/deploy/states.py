"""The states of docs/runbook.md, one by one: what a gateway promises while its stores are there and away.

    states.py PHOTIC MOTO      the binary, and the folder of moto's programs
"""
import base64, json, subprocess, sys, time

import fleet
from waiting import until

photic, moto = sys.argv[1:]
NOBODY = "pk_" + "0" * 12 + "_" + "0" * 52


def talk(gateway, key, image):
    """A turn with a picture that is not like the one before: status, failure, which turn it is."""
    body = {"model": "gpt-5.4", "messages": [{"role": "user", "content": [
        {"type": "text", "text": f"look {time.monotonic()}"}, {"type": "image_url", "image_url": {"url": image}}]}]}
    status, headers, _ = gateway.ask("POST", "/v1/chat/completions", json.dumps(body), content_type="application/json",
                                     authorization="Bearer sk-of-the-provider", x_photic_key=key)
    return status, headers.get("x-photic-error"), headers.get("x-photic-turn")


def upload(gateway, key, picture):
    status, headers, body = gateway.ask("POST", "/photic/v1/media", picture, content_type="image/png", x_photic_key=key)
    return status, headers.get("x-photic-error"), body


def drawn(work, number):
    subprocess.run([photic, "mock", "--chart", str(number), "-o", work / "chart.png"], check=True, stdout=subprocess.DEVNULL)
    return (work / "chart.png").read_bytes()


def address(picture):
    return "data:image/png;base64," + base64.b64encode(picture).decode()


def states(gateway, postgres, bucket, work):
    pictures = [drawn(work, number) for number in range(1, 7)]
    assert gateway.command("fleet", "status").returncode == 0
    issued = gateway.command("fleet", "keys", "issue", "first")
    assert issued.returncode == 0, issued.stderr
    key = issued.stdout.strip()

    # Everything is there.
    assert talk(gateway, "none", address(pictures[0]))[:2] == (401, "no_tenant_key")
    assert talk(gateway, NOBODY, address(pictures[0]))[:2] == (401, "no_tenant_key")
    status, error, turn = talk(gateway, key, address(pictures[0]))
    assert status == 200 and turn, (status, error, turn)
    status, error, body = upload(gateway, key, pictures[1])
    assert status == 201, (status, error, body)
    reference = "photic:" + json.loads(body)["ref"]
    status, error, turn = talk(gateway, key, reference)
    assert status == 200 and turn, (status, error, turn)
    for store in ("record", "blobs"):
        assert gateway.metric(f'photic_store_away{{store="{store}"}} 0')

    # The bucket is away.
    bucket.stop()
    until(lambda: gateway.away() == ["blobs"])
    assert gateway.metric('photic_store_away{store="blobs"} 1')
    assert talk(gateway, key, address(pictures[2])) == (200, None, None)
    assert upload(gateway, key, pictures[3])[:2] == (503, "store_away")
    bucket.start()
    until(lambda: gateway.away() == [])
    status, error, turn = talk(gateway, key, address(pictures[3]))
    assert status == 200 and turn, (status, error, turn)

    # The database is away.
    postgres.stop()
    until(lambda: gateway.away() == ["record"])
    assert gateway.metric('photic_store_away{store="record"} 1')
    assert talk(gateway, key, address(pictures[4])) == (200, None, None)
    assert talk(gateway, NOBODY, address(pictures[4]))[:2] == (503, "keys_away")
    assert upload(gateway, key, pictures[4])[:2] == (503, "store_away")
    assert gateway.command("fleet", "status").returncode == 1
    postgres.start()
    until(lambda: gateway.away() == [])
    status, error, turn = talk(gateway, key, address(pictures[5]))
    assert status == 200 and turn, (status, error, turn)

    # A leaked key.
    name = key.split("_")[1]
    assert gateway.command("fleet", "keys", "revoke", "first", name).returncode == 0
    until(lambda: talk(gateway, key, address(pictures[5]))[:2] == (401, "no_tenant_key"))


begun = time.monotonic()
with fleet.running(photic, moto) as (gateway, postgres, bucket, work):
    states(gateway, postgres, bucket, work)
print(f"states: ready, without the bucket, without the database, a leaked key; {time.monotonic() - begun:.0f} s")
