"""A session in Python gives what `repair` gives, also to four threads at once, and reads little of what it knows."""
import json, pathlib, threading

import photic

from bodies import TESTS

LOST = json.dumps({"screenshot": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="})


def turns(name, count):
    """The bodies of a conversation, turn by turn: calls with words, some with a picture in JSON, and an edit."""
    messages = [{"role": "user", "content": f"Please read the files of {name}."}]
    for turn in range(count):
        function = {"name": "read", "arguments": json.dumps({"n": turn})}
        messages.append({"role": "assistant", "tool_calls": [{"id": f"call_{turn}", "type": "function", "function": function}]})
        messages.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": LOST if turn % 7 == 6 else f"line {turn} " * 60})
        if turn == count // 2:
            messages[-1]["content"] = "edited"
        yield json.dumps({"model": "gpt-5.4", "messages": messages}).encode()


session, wrong = photic.Session("openai-chat"), []


def run(name):
    for body in turns(name, 60):
        here, there = session.repair(body), photic.repair(body, wire="openai-chat")
        if (here.body, here.data) != (there.body, there.data):
            wrong.append(body)


threads = [threading.Thread(target=run, args=(f"folder {n}",)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
figures = session.figures
assert not wrong, wrong[0]
assert figures["continued"] > 100 and figures["conversations"] <= 8, figures
golden = [path.read_bytes() for path in sorted((TESTS / "wires").glob("*/in.json"))]
for body in golden:
    assert photic.Session().repair(bytearray(body)).body == photic.repair(body).body
try:
    photic.Session("openai")
    raise SystemExit("no error")
except photic.PhoticError as error:
    assert "openai-chat" in str(error)
print(f"python: a session gives the bytes of 240 calls, and of {len(golden)} golden bodies: {figures}")
