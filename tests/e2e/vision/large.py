"""Several large pictures as one tool result, as the AI SDK sends them: SERVER GATEWAY CHARTS COUNT TIMES.

Directly they are text, and overflow the context. Through photic the model is asked about the last of them, each being
the last once; that all of them came is in the tokens that the server counted. What the model says about a picture by its
number is measured, too, and claimed of nothing: it tells several of one turn apart badly."""
import json, sys

import openai

import charts, endpoints

server, gateway, folder, count, times = sys.argv[1:]
pool = charts.load(folder, "large")
count, times = int(count), int(times)
PICTURE = 64  # tokens, whatever its size


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
        reply = client.chat.completions.create(model=endpoints.MODEL, messages=messages, max_completion_tokens=90, temperature=0)
    except openai.APIStatusError as refused:
        return None, 0, json.dumps(refused.body)[:300]
    return reply.choices[0].message.content, reply.usage.prompt_tokens, None


told = {"path": "large", "pictures": count, "asked": 0, "whole": 0, "hit": 0, "of": 0, "overflows": 0, "refused": [],
        "tokens": [10**9, 0], "numbered": 0, "numbered_of": 0, "megabytes": 0, "wrong": []}
for turn in range(times):
    shown = pool[turn * count : (turn + 1) * count]
    told["megabytes"] = max(told["megabytes"], round(sum(len(chart.bytes) for chart in shown) / 1e6, 1))
    _, _, error = ask(server, shown, shown[0].question)
    told["overflows"] += "exceed_context_size" in (error or "")
    for last in range(count):
        rotated = shown[last + 1 :] + shown[: last + 1]
        said, tokens, error = ask(gateway, rotated, rotated[-1].question)
        if error:
            told["refused"].append(error)
        told["tokens"] = [min(told["tokens"][0], tokens), max(told["tokens"][1], tokens)]
        hits = rotated[-1].hits(said)
        told["asked"] += 1
        told["hit"] += hits
        told["of"] += len(rotated[-1].cells)
        told["whole"] += hits == len(rotated[-1].cells)
        if hits < len(rotated[-1].cells) and len(told["wrong"]) < 3:
            told["wrong"].append({"shows": [chart.shows for chart in rotated], "said": said})
    number = turn % count
    said, _, _ = ask(gateway, shown, f"What does image {number + 1} show?")
    told["numbered"] += shown[number].hits(said)
    told["numbered_of"] += len(shown[number].cells)
told["all_there"] = told["tokens"][0] >= count * PICTURE
print(json.dumps(told))
