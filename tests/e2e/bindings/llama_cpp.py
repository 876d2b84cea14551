"""The real model in the llama.cpp server, asked by the published SDKs with photic in the process: SERVER CHARTS COUNT.

A chart comes as the result of a tool, on each API of the server, and once more as base64 in JSON. Without photic, the
model has not read a chart, or the server refused the request; with the documented line it reads nearly all.
"""
import json, sys

import anthropic, openai

import charts, endpoints
import photic.anthropic, photic.httpx2

server, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
SETTINGS = {"max_retries": 0, "timeout": 300, "api_key": "any"}


def gpt(within):
    client = openai.DefaultHttpx2Client(transport=photic.httpx2.Transport()) if within else None
    return openai.OpenAI(base_url=server + "/v1", http_client=client, **SETTINGS)


def claude(within):
    return anthropic.Anthropic(base_url=server, middleware=[photic.anthropic.middleware()] if within else [], **SETTINGS)


def as_json(client, chart):
    """Chat Completions, with the picture as base64 in JSON."""
    call = {"id": "call_1", "type": "function", "function": {"name": endpoints.TOOL, "arguments": json.dumps({"source": chart.name})}}
    messages = [
        {"role": "user", "content": chart.question},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": json.dumps({"name": chart.name, "screenshot": chart.base64})},
    ]
    function = {"name": endpoints.TOOL, "description": "Look at a picture.", "parameters": endpoints.SCHEMA}
    reply = client.chat.completions.create(model=endpoints.MODEL, messages=messages, max_completion_tokens=endpoints.MAX_TOKENS,
                                           temperature=0, tools=[{"type": "function", "function": function}])
    return reply.choices[0].message.content


WAYS = {
    "Chat Completions": (gpt, lambda client, chart: endpoints.chat(client, chart, by_tool=True)),
    "Chat Completions, JSON": (gpt, as_json),
    "Responses": (gpt, lambda client, chart: endpoints.responses(client, chart, by_tool=True)),
    "Messages": (claude, lambda client, chart: endpoints.messages(client, chart, by_tool=True)),
}
pool, failures = charts.load(folder, "quads")[:count], []
for way, (make, ask) in WAYS.items():
    shares = []
    for within in (False, True):
        client, hit, of = make(within), 0, 0
        for chart in pool:
            of += len(chart.cells)
            try:
                hit += chart.hits(ask(client, chart))
            except (openai.APIStatusError, anthropic.APIStatusError) as error:
                if within:
                    failures.append(f"{way}: {error}")
        shares.append(hit / of)
    print(f"{way}: {shares[0]:.0%} of the cells without photic, {shares[1]:.0%} in process")
    if shares[1] < 0.75:
        failures.append(f"{way}: {shares}")
    if way.endswith("JSON") and shares[0] > 0.4:
        failures.append(f"{way} was not blind without photic: {shares}")
sys.exit("\n".join(failures) if failures else 0)
