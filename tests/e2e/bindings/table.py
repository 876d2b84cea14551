"""The section of docs/clients.md on clients in Python, from what they said: FOLDER PAGE.

FOLDER has RUNNER.direct, RUNNER.photic and, for those that the first table of the page does not have, RUNNER.gateway: a
line of JSON a row. Fails where a chart was not named exactly with photic, and where the page differs from what was seen;
with PHOTIC_BLESS=1 the section is written anew.
"""
import json, os, pathlib, re, sys

folder, page = map(pathlib.Path, sys.argv[1:])
charts = [(folder / f"{n}.txt").read_text().strip() for n in (1, 2)]
RIGHT = "; ".join(f"image {n}: {words}" for n, words in enumerate(charts, 1))
WIRES = {"openai-chat": "Chat Completions", "openai-responses": "Responses", "anthropic": "Messages",
         "gemini": "Gemini", "bedrock-converse": "Converse", "ollama": "Ollama"}
OPEN, CLOSE = "<!-- written by tests/e2e/long/74-bindings -->", "<!-- end -->"
WORDS = """## In process, in Python

Published clients and frameworks as they are, behind `photic run`, and with the one line that [python.md](python.md) names \
for each. Streamed and not are one row. Where the gateway is blind, the SDK drops the image before it sends the request."""
# The Agents SDK writes no images of tools for Chat Completions.
DROPPED = {("OpenAI Agents SDK, input filter", "Chat Completions", "image part"): "**blind**"}


def outcome(row):
    if "said" not in row:
        return f"**{row['status']}**" if row["status"] else f"**fails**: {row['error'].splitlines()[0]}"
    if all(answer == RIGHT for answer in row["said"]):
        return "sees"
    return "**blind**" if all(answer == "I see no image." for answer in row["said"]) else f"says {row['said']}"


def outcomes(runner, way):
    """What became of each row: streamed and not are one row."""
    found = {}
    for line in (folder / f"{runner}.{way}").read_text().splitlines():
        row = json.loads(line)
        found.setdefault((row["client"], WIRES[row["wire"]], row["shape"]), []).append(outcome(row))
    return {key: " or ".join(dict.fromkeys(said)) for key, said in found.items()}


def listed(text):
    """What the first table of the page says of the gateway."""
    rows = (tuple(cell.strip() for cell in line.strip("|").split("|")) for line in text.split("\n## ")[0].splitlines() if line[:1] == "|")
    return {row[:3]: row[4] for row in rows}


text = page.read_text()
lines = ["| client | API | the tool gives | without photic | gateway | in process |", "|---|---|---|---|---|---|"]
wrong, blind = [], 0
for runner in ("python", "others", "frameworks"):
    direct, inside = outcomes(runner, "direct"), outcomes(runner, "photic")
    behind = outcomes(runner, "gateway") if (folder / f"{runner}.gateway").exists() else listed(text)
    assert direct and direct.keys() == inside.keys(), f"{runner}: {direct.keys() ^ inside.keys()}"
    for key, said in inside.items():
        lines.append("| " + " | ".join([*key, direct[key], behind[key], said]) + " |")
        blind += direct[key] != "sees"
        wrong += [f"{key}: {said}"] if said != "sees" else []
        wrong += [f"{key}, gateway: {behind[key]}"] if behind[key] != DROPPED.get(key, "sees") else []
print(f"{len(lines) - 2} rows, {blind} of them fail without photic")
assert len(lines) > 60 and blind > 30, lines

FRAMEWORKS = ["google-adk", "openai-agents", "pydantic-ai-slim", "strands-agents"]
required = (pathlib.Path(__file__).parent / "frameworks.txt").read_text()
versions = ", ".join(f"{name} {re.search(rf'(?m)^{name}==(.+)$', required)[1]}" for name in FRAMEWORKS)
section = "\n".join([OPEN, WORDS, "", *lines, "", f"Versions: {versions}; the others as above.", CLOSE])
known = re.compile(re.escape(OPEN) + ".*?" + re.escape(CLOSE), re.S)
new = known.sub(lambda _: section, text) if known.search(text) else f"{text.rstrip()}\n\n{section}\n"
if os.environ.get("PHOTIC_BLESS"):
    page.write_text(new)
elif new != text:
    wrong.append(f"{page} differs from what was seen: write it anew with PHOTIC_BLESS=1")
sys.exit("\n".join(wrong) if wrong else 0)
