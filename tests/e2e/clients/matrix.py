"""docs/clients.md from what the clients said: FOLDER DOC.

Fails where a chart was not named exactly behind `photic run`, and where the page differs from what
was seen; with PHOTIC_BLESS=1 it is written anew.
"""
import json, os, pathlib, re, sys

from rows import rows

HERE = pathlib.Path(__file__).resolve().parent
folder, page = map(pathlib.Path, sys.argv[1:])
charts = [(folder / f"{n}.txt").read_text().strip() for n in (1, 2)]
RIGHT = "; ".join(f"image {n}: {words}" for n, words in enumerate(charts, 1))
# Claude Code reads files at once, and sends the result first that was there first.
OTHERWISE = "; ".join(f"image {n}: {words}" for n, words in enumerate(reversed(charts), 1))
RIGHT_FOR = {"Claude Code": (RIGHT, OTHERWISE)}
SEES, BLIND = "sees", "blind"
WIRES = {"openai-chat": "Chat Completions", "openai-responses": "Responses", "anthropic": "Messages",
         "gemini": "Gemini", "bedrock-converse": "Converse", "ollama": "Ollama"}


def key(row):
    return tuple(row[name] for name in ("client", "wire", "to", "shape", "stream"))


def outcomes(mode, way):
    """What became of each row, in a word."""
    found = {}
    for file in folder.glob(f"*.{mode}.{way}"):
        for line in file.read_text().splitlines():
            row = json.loads(line)
            found[key(row)] = outcome(row)
    return found


def outcome(row):
    if "said" not in row:
        return f"{row['status']}: {row['error']}" if row["status"] else f"fails: {row['error']}"
    said = row["said"]
    if all(answer in RIGHT_FOR.get(row["client"], (RIGHT,)) for answer in said):
        return SEES
    return BLIND if all(answer == "I see no image." for answer in said) else f"says {said}"


def short(said):
    return {SEES: "sees", BLIND: "**blind**"}.get(said) or f"**{said.split(':')[0]}**"


def versions():
    required = (HERE / "requirements.txt").read_text()
    python = [f"{name} {re.search(rf'^{name}==(.+)$', required, re.M)[1]}" for name in
              ("openai", "anthropic", "langchain", "langchain-openai", "langchain-anthropic", "pydantic-ai-slim", "google-genai",
               "boto3", "ollama", "mistralai")]
    lines = [f"- Python: {', '.join(python)}"]
    claude = json.loads((HERE / "claude/package.json").read_text())["dependencies"]
    lines.append("- " + ", ".join(f"{k} {v}" for k, v in claude.items()))
    captures = HERE.parents[2] / "captures"
    for name, label in (("node", "Node"), ("ai6", "AI SDK 6"), ("ai7", "AI SDK 7")):
        packages = json.loads((captures / name / "package.json").read_text())["dependencies"]
        packages = {k: v for k, v in packages.items() if k not in ("zod", "@ai-sdk/mcp")}
        lines.append(f"- {label}: " + ", ".join(f"{k} {v}" for k, v in sorted(packages.items())))
    return lines


def table(mode, head):
    """One line a row; streamed and not share one where nothing differs."""
    direct, photic = outcomes(mode, "direct"), outcomes(mode, "photic")
    lines, problems, merged = [], [], {}
    for row in rows(mode):
        at = key(row)
        without, through = direct.get(at, "not run"), photic.get(at, "not run")
        if through != SEES:
            problems.append(f"{at}: {through}")
        if without == "not run" or without.startswith(("says", "fails")):
            problems.append(f"{at}, direct: {without}")
        merged.setdefault(at[:-1], []).append((without, through))
    for (client, wire, to, shape), both in merged.items():
        cells = [" / ".join(dict.fromkeys(short(one[side]) for one in both)) for side in (0, 1)]
        led = f"{WIRES[wire]} → {WIRES[to]}" if to else WIRES[wire]
        lines.append(f"| {client} | {led} | {shape} | {cells[0]} | {cells[1]} |")
    return [head, "|---|---|---|---|---|", *lines], problems


def others():
    """Sections that other suites write, which stand at the end of the page."""
    written = page.read_text() if page.exists() else ""
    return re.findall(r"^<!-- written by [^\n]* -->$.*?^<!-- end -->$", written, re.S | re.M)


def write():
    same, wrong = table("same", "| client | wire | the tool gives | without photic | with photic |")
    across, more = table("cross", "| client | wire → upstream's | the tool gives | without photic | with photic |")
    text = [
        "# Clients",
        "",
        "Written by `tests/e2e/suites/80-clients`, which runs every row: the published, unmodified client in",
        "an agent loop with a screenshot tool, two calls at once, streamed and not, and a question",
        "after it; against `photic mock`, which keeps the rules of the wire and answers only from",
        "pixels. Without photic the client talks to it directly; with photic it is started by",
        "`photic run`, and nothing else changes. **400** means that the provider turned the request",
        "down, **404** that it does not speak the wire, **blind** that the model answered without the",
        "images; *sees* means that every chart was named exactly, every time.",
        "",
        *same,
        "",
        "## Across wires",
        "",
        "The upstream speaks only the other wire; `photic run --config` names it by model.",
        "",
        *across,
        "",
        "## Versions",
        "",
        *versions(),
        "",
        *(line for section in others() for line in (section, "")),
    ]
    return "\n".join(text), wrong + more


def loops():
    """Whether the rows were run as they claim: calls two at once, streamed where they say so."""
    requests = json.loads((folder / "journal").read_text())["requests"]
    calls = [request for request in requests if request["said"].startswith("calls")]
    once = [request["said"] for request in calls if request["said"].count(",") != 1]
    wanted = [row["stream"] for row in rows("same")] * 2
    streamed = sum(request["stream"] for request in calls)
    # pydantic-ai streams from Anthropic whether or not it is asked to.
    if once or len(calls) != len(wanted) or streamed < sum(wanted):
        sys.exit(f"{len(calls)} loops began, {streamed} streamed, instead of {len(wanted)}, {sum(wanted)}: {once}")


loops()
text, problems = write()
count = len(list(rows("same"))) + len(list(rows("cross")))
if problems:
    sys.exit("\n".join(["charts were not named:", *problems]))
if os.environ.get("PHOTIC_BLESS"):
    page.write_text(text)
elif not page.exists() or page.read_text() != text:
    (folder / "clients.md").write_text(text)
    sys.exit(f"{page} differs from what was seen; PHOTIC_BLESS=1 writes it anew")
print(f"{count} rows: every chart was named")
