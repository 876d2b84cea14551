#!/usr/bin/env python3
"""What a turn adds to the database: the figure `database.turn` of inputs.toml.

usage: measure.py PHOTIC MOTO [SESSIONS [TURNS]]

PHOTIC is the binary, MOTO the folder of moto's programs (`tests/e2e/fleet/install` puts it into the
cache). Sessions of an agent that takes a screenshot every turn go through a gateway on a
PostgreSQL of their own; rows and bytes are PostgreSQL's own counts, indexes included.
"""
import base64
import json
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

E2E = Path(__file__).resolve().parents[2] / "tests/e2e"
sys.path[:0] = [str(E2E), str(E2E / "deploy"), str(E2E.parent)]
import fleet
import pictures

WORDS = "the agent looked at its screen and saw that a button had moved while it thought about what to do next".split()
# As many bytes as `session.words` says, in the three places where an agent has words.
THOUGHT, WHY, RESULT = 600, 200, 700
AT_ONCE = 4
COUNTS = """SELECT json_object_agg(regexp_replace(relname, '_[0-9]+$', ''), json_build_array(inserted, size)) FROM (
    SELECT relname, n_tup_ins AS inserted, pg_total_relation_size(relid) AS size FROM pg_stat_user_tables) AS tables
    WHERE inserted > 0"""


def words(chance, length):
    """Words with numbers among them, so that they are not compressed to nothing."""
    text = ""
    while len(text) < length:
        text += f"{chance.choice(WORDS)} {chance.randrange(10_000)} "
    return text[:length]


def picture(chance):
    """A small one that was not sent before."""
    return pictures.noise(100, 100, chance)


def session(gateway, key, number, turns):
    """How many of its turns were kept."""
    chance, kept = random.Random(number), 0
    tools = [{"type": "function", "function": {"name": "screenshot", "parameters": {"type": "object"}}}]
    messages = [{"role": "system", "content": words(random.Random(0), 3000)}, {"role": "user", "content": words(chance, 300)}]
    for turn in range(turns):
        call = {"id": f"call_{turn}", "type": "function",
                "function": {"name": "screenshot", "arguments": json.dumps({"why": words(chance, WHY)})}}
        image = "data:image/png;base64," + base64.b64encode(picture(chance)).decode()
        messages += [{"role": "assistant", "content": words(chance, THOUGHT), "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": call["id"], "content": [
                         {"type": "text", "text": words(chance, RESULT)}, {"type": "image_url", "image_url": {"url": image}}]}]
        body = json.dumps({"model": "gpt-5.4", "messages": messages, "tools": tools})
        status, headers, said = gateway.ask("POST", "/v1/chat/completions", body, content_type="application/json",
                                            authorization="Bearer k", x_photic_key=key)
        assert status == 200, said
        kept += "x-photic-turn" in headers
    return kept


def main(photic, moto, sessions="16", turns="40"):
    sessions, turns = int(sessions), int(turns)
    with fleet.running(photic, moto) as (gateway, postgres, _, _):
        key = gateway.command("fleet", "keys", "issue", "measured").stdout.strip()
        # What is there once is not what a turn adds.
        session(gateway, key, sessions, 3)
        time.sleep(2)
        before = json.loads(postgres.ask(COUNTS))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            kept = sum(pool.map(lambda number: session(gateway, key, number, turns), range(sessions)))
        # PostgreSQL counts a moment later.
        time.sleep(3)
        after = json.loads(postgres.ask(COUNTS))
    assert kept == sessions * turns, f"{kept} of {sessions * turns} turns were kept"
    rows, size = 0, 0
    for table, (inserted, held) in sorted(after.items()):
        inserted, held = inserted - before.get(table, (0, 0))[0], held - before.get(table, (0, 0))[1]
        if inserted or held:
            print(f"{table:<12} {inserted / kept:5.2f} rows {held / kept:6.0f} bytes")
        rows, size = rows + inserted, size + held
    print(f"{'a turn':<12} {rows / kept:5.2f} rows {size / kept:6.0f} bytes")


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
