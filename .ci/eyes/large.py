"""Several large pictures as one tool result: SERVER GATEWAY CHARTS COUNT TIMES. Directly, as text, as the AI SDK sends
them, and through photic; two questions about each turn: what every picture shows is asked by its number."""
import json, sys

import openai

import charts, doors

server, gateway, folder, count, times = sys.argv[1:]
pool = charts.load(folder, "large")
count, times = int(count), int(times)


def ask(address, shown, question):
    client = openai.OpenAI(base_url=address + "/v1", api_key="any", max_retries=0, timeout=300)
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"source": "pages"}'}}
    text = json.dumps([{"type": "media", "data": chart.base64, "mediaType": "image/png"} for chart in shown])
    messages = [
        {"role": "user", "content": question},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": text},
    ]
    try:
        reply = client.chat.completions.create(model=doors.MODEL, messages=messages, max_completion_tokens=90, temperature=0)
    except openai.APIStatusError as refused:
        return None, json.dumps(refused.body)[:300]
    return reply.choices[0].message.content, None


told = {"path": "large", "pictures": count, "asked": 0, "whole": 0, "hit": 0, "of": 0, "overflows": 0, "refused": [], "megabytes": 0, "wrong": []}
for turn in range(times):
    shown = pool[turn * count : (turn + 1) * count]
    told["megabytes"] = max(told["megabytes"], round(sum(len(chart.bytes) for chart in shown) / 1e6, 2))
    _, error = ask(server, shown, "What does image 1 show?")
    told["overflows"] += "exceed_context_size" in (error or "")
    for number, chart in enumerate(shown, 1):
        said, error = ask(gateway, shown, f"What does image {number} show?")
        if error:
            told["refused"].append(error)
        hits = chart.hits(said)
        told["asked"] += 1
        told["hit"] += hits
        told["of"] += len(chart.cells)
        told["whole"] += hits == len(chart.cells)
        if hits < len(chart.cells) and len(told["wrong"]) < 3:
            told["wrong"].append({"number": number, "shows": [c.shows for c in shown], "said": said})
print(json.dumps(told))
