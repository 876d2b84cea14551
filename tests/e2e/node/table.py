"""The section of docs/clients.md on clients in Node, from what they said: FOLDER PAGE.

FOLDER has RUNNER.direct, RUNNER.photic and, for those that the first table of the page does not have, RUNNER.gateway: a
line of JSON a row. Fails where a chart was not named exactly with photic, and where the page differs from what was
seen; with PHOTIC_BLESS=1 the section is written anew.
"""
import json, os, pathlib, re, sys

folder, page = map(pathlib.Path, sys.argv[1:])
charts = [(folder / f"{n}.txt").read_text().strip() for n in (1, 2)]
RIGHT = "; ".join(f"image {n}: {words}" for n, words in enumerate(charts, 1))
WIRES = {"openai-chat": "Chat Completions", "openai-responses": "Responses", "anthropic": "Messages",
         "gemini": "Gemini", "bedrock-converse": "Converse", "ollama": "Ollama"}
OPEN, CLOSE = "<!-- written by tests/e2e/long/76-node -->", "<!-- end -->"
WORDS = """## In process, in Node

Published clients and frameworks as they are, behind `photic run`, and with the one line that [node.md](node.md) names \
for each. Streamed and not are one row."""


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
for runner in ("node", "ai6", "ai7", "integrations"):
    direct, inside = outcomes(runner, "direct"), outcomes(runner, "photic")
    behind = outcomes(runner, "gateway") if (folder / f"{runner}.gateway").exists() else listed(text)
    assert direct and direct.keys() == inside.keys(), f"{runner}: {direct.keys() ^ inside.keys()}"
    assert behind.keys() >= inside.keys(), f"{runner}: {inside.keys() - behind.keys()}"
    for key, said in inside.items():
        lines.append("| " + " | ".join([*key, direct[key], behind[key], said]) + " |")
        blind += direct[key] != "sees"
        wrong += [f"{key}: {one}" for one in (said, behind[key]) if one != "sees"]
for runner in ("ai6", "ai7"):
    other = outcomes(runner, "middleware")
    wrong += [f"photicMiddleware: {key}: {said}" for key, said in other.items() if said != "sees"]
    print(f"{runner}: photicMiddleware: {len(other)} rows")
print(f"{len(lines) - 2} rows, {blind} of them fail without photic")

TOOLS = {"@arethetypeswrong/cli", "@types/json-schema", "@types/node", "playwright-core", "publint", "typescript", "zod"}
packages = json.loads((pathlib.Path(__file__).parent / "package.json").read_text())["dependencies"]
versions = ", ".join(f"{name} {version}" for name, version in packages.items() if name not in TOOLS)
section = "\n".join([OPEN, WORDS, "", *lines, "", f"Versions: {versions}.", CLOSE])
known = re.compile(re.escape(OPEN) + ".*?" + re.escape(CLOSE), re.S)
new = known.sub(lambda _: section, text) if known.search(text) else f"{text.rstrip()}\n\n{section}\n"
if os.environ.get("PHOTIC_BLESS"):
    page.write_text(new)
elif new != text:
    wrong.append(f"{page} differs from what was seen: write it anew with PHOTIC_BLESS=1")
sys.exit("\n".join(wrong) if wrong else 0)
