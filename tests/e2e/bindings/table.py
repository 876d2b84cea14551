"""The table of docs/python.md from what the clients said: FOLDER DOCS.

FOLDER has RUNNER.direct and RUNNER.photic, a line of JSON a row. Fails where a chart was not named exactly in process,
and where a page differs from what was seen; with PHOTIC_BLESS=1 it is written anew.
"""
import json, os, pathlib, re, sys

folder, docs = map(pathlib.Path, sys.argv[1:])
charts = [(folder / f"{n}.txt").read_text().strip() for n in (1, 2)]
RIGHT = "; ".join(f"image {n}: {words}" for n, words in enumerate(charts, 1))
WIRES = {"openai-chat": "Chat Completions", "openai-responses": "Responses", "anthropic": "Messages",
         "gemini": "Gemini", "bedrock-converse": "Converse", "ollama": "Ollama"}
PAGES = {"python.md": ["python", "others"]}


def outcome(row):
    if "said" not in row:
        return f"**{row['status']}**" if row["status"] else f"**fails**: {row['error']}"
    if all(answer == RIGHT for answer in row["said"]):
        return "sees"
    return "**blind**" if all(answer == "I see no image." for answer in row["said"]) else f"says {row['said']}"


def outcomes(runner, way):
    """What became of each row: streamed and not are one row."""
    found = {}
    for line in (folder / f"{runner}.{way}").read_text().splitlines():
        row = json.loads(line)
        key = row["client"], WIRES[row["wire"]], row["shape"]
        found.setdefault(key, []).append(outcome(row))
    return {key: " or ".join(dict.fromkeys(said)) for key, said in found.items()}


failures = 0
for page, runners in PAGES.items():
    lines = ["| client | API | the tool gives | without photic | with photic |", "|---|---|---|---|---|"]
    for runner in runners:
        direct, inside = outcomes(runner, "direct"), outcomes(runner, "photic")
        assert direct.keys() == inside.keys() and direct, f"{runner}: {direct.keys() ^ inside.keys()}"
        for key, said in inside.items():
            lines.append("| " + " | ".join([*key, direct[key], said]) + " |")
            if said != "sees":
                failures += 1
                print(f"{page}: {key}: {said}")
    path = docs / page
    text = path.read_text()
    table = "<!-- rows -->\n" + "\n".join(lines) + "\n<!-- end of rows -->"
    new = re.sub(r"<!-- rows -->.*<!-- end of rows -->", lambda _: table, text, flags=re.S)
    blind = sum("sees" not in line.split("|")[4] for line in lines[2:])
    print(f"{page}: {len(lines) - 2} rows, {blind} of them fail without photic")
    if os.environ.get("PHOTIC_BLESS"):
        path.write_text(new)
    elif new != text:
        failures += 1
        print(f"docs/{page} differs from what was seen: write it anew with PHOTIC_BLESS=1")
sys.exit(bool(failures))
