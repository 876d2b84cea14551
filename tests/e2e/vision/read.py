"""Every chart through one API of a server after another: SERVER GATEWAY CHARTS PATH…, a line of JSON a path and kind."""
import sys

import anthropic, openai

import charts, endpoints

server, gateway, folder, *paths = sys.argv[1:]


def clients(address):
    settings = {"max_retries": 0, "timeout": 120, "api_key": "any"}
    return openai.OpenAI(base_url=address + "/v1", **settings), anthropic.Anthropic(base_url=address, **settings)


gpt, claude = clients(server)
seen_gpt, seen_claude = clients(gateway)
PATHS = {
    # The picture beside the question, without photic: what the model can read at all.
    "user": (("quads", "grids", "codes"), lambda chart: endpoints.chat(gpt, chart)),
    "blind": (("quads", "grids", "codes"), lambda chart: endpoints.chat(gpt, chart, blind=True)),
    "responses user": (("quads",), lambda chart: endpoints.responses(gpt, chart)),
    "messages user": (("quads",), lambda chart: endpoints.messages(claude, chart)),
    # The picture as the result of a tool, through photic.
    "gateway chat": (("quads",), lambda chart: endpoints.chat(seen_gpt, chart, by_tool=True)),
    "gateway responses": (("quads",), lambda chart: endpoints.responses(seen_gpt, chart, by_tool=True)),
    "gateway messages": (("quads",), lambda chart: endpoints.messages(seen_claude, chart, by_tool=True)),
}
for path in paths:
    kinds, ask = PATHS[path]
    for kind in kinds:
        score = charts.Score(path, kind)
        for chart in charts.load(folder, kind):
            score.add(chart, ask(chart))
        print(score.line(), flush=True)
