"""A small agent, to be tried with `photic mock` (docs/tutorial.md). It needs nothing but Python.

It asks the model to take a screenshot, runs the tool `screenshot` that the model calls, and prints the answer. The tool
returns the picture the way most tools do: as base64 inside JSON. The last request is written to request.json.
"""
import base64, json, os, urllib.request

BASE_URL = os.environ["OPENAI_BASE_URL"]
KEY = os.environ.get("OPENAI_API_KEY", "none")
TOOL = {"name": "screenshot", "description": "Take a screenshot", "parameters": {"type": "object", "properties": {}}}


def ask(messages):
    """Sends one request and returns the message of the model."""
    body = {"model": "gpt-4o", "messages": messages, "tools": [{"type": "function", "function": TOOL}]}
    with open("request.json", "w") as file:
        json.dump(body, file, indent=1)
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(f"{BASE_URL}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]


def screenshot():
    """Returns the picture chart.png as base64 inside JSON."""
    with open("chart.png", "rb") as file:
        picture = base64.b64encode(file.read()).decode()
    return json.dumps({"screenshot": f"data:image/png;base64,{picture}"})


messages = [{"role": "user", "content": "Take a screenshot and tell me what you see."}]
for _ in range(4):
    message = ask(messages)
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for call in message["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": screenshot()})
