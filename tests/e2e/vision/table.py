"""Holds what was read against what is claimed, and writes docs/vision.md: RESULTS PAGE. PHOTIC_BLESS=1 writes the page anew.

Figures may differ a little between machines (the model computes in floats), so the page is not compared: the claims are."""
import json, math, os, pathlib, sys

import charts

results, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
lines = [json.loads(line) for file in sorted(results.glob("*.jsonl")) for line in file.read_text().splitlines()]
read = {(line["path"], line["kind"]): line for line in lines if "kind" in line}
loops = {line["path"]: line for line in lines if "kind" not in line}
passed, failed = 0, []


def claim(name, holds, told):
    global passed
    if holds:
        passed += 1
    else:
        failed.append(f"{name}: {told}")


def same(one, other):
    """Fisher's exact test, one tail: could `other` read as well as `one`?"""
    all_hits, total = one["hit"] + other["hit"], one["of"] + other["of"]
    ln = lambda n, k: math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    least = max(0, all_hits - one["of"])
    tail = [ln(other["of"], k) + ln(one["of"], all_hits - k) - ln(total, all_hits) for k in range(least, other["hit"] + 1)]
    return sum(math.exp(term) for term in tail) > 0.001


for kind, least in (("quads", 0.99), ("grids", 0.95), ("codes", 0.95)):
    line = read["user", kind]
    claim(f"user, {kind}", line["hit"] >= least * line["of"], line)
for (path, kind), line in read.items():
    if path in ("blind", "AI SDK alone"):
        claim(f"{path}, {kind} stays at chance", line["odds"] > -3, line)
    elif path != "user":
        claim(f"{path}, {kind} as well as beside the question", same(read["user", kind], line), line)
        claim(f"{path}, {kind} is no luck", line["odds"] < -9, line)
for path, least in (("mcp", 0.8), ("elided", 0.5)):
    line = loops[path]
    claim(f"{path}: the model calls", line["called"] >= least * line["loops"], line)
    claim(f"{path}: what it called for, it reads", line["hit"] >= 0.95 * line["of"], line)
large = loops["large"]
turns = large["asked"] // large["pictures"]
claim("large: all of them are there", large["all_there"], large)
claim("large: as text they overflow the context", large["overflows"] == turns, large)
claim("large: through photic none is refused", not large["refused"], large)
claim("large: each is read when it is the last", large["hit"] >= 0.95 * large["of"], large)


def odds(value):
    return f"1 in 10^{-value:.0f}" if value < -3 else "chance"


NAMES = {
    "user": "Chat, picture beside the question", "blind": "Chat, the same question without a picture",
    "responses user": "Responses, picture beside the question", "messages user": "Messages, picture beside the question",
    "AI SDK alone": "AI SDK, tool result, unmodified", "AI SDK, photic": "AI SDK, tool result, through photic",
    "gateway chat": "photic's Chat API, tool result", "gateway responses": "photic's Responses API, tool result",
    "gateway messages": "photic's Messages API, tool result",
}
KINDS = {"quads": "2×2, cells", "grids": "4×4, cells", "codes": "six characters"}
rows = ["| path | charts | read | | by luck |", "|---|---|--:|--:|---|"]
for (path, kind), line in sorted(read.items(), key=lambda item: (list(NAMES).index(item[0][0]), list(KINDS).index(item[0][1]))):
    rows.append(f"| {NAMES[path]} | {line['charts']} of {KINDS[kind]} | {line['hit']} of {line['of']} | {100 * line['hit'] / line['of']:.1f} % | {odds(line['odds'])} |")
mcp, elided = loops["mcp"], loops["elided"]
words = f"""
| loop | loops | called rightly | read whole |
|---|--:|--:|--:|
| calls `view` of `photic mcp`, then answers | {mcp['loops']} | {mcp['called']} | {mcp['whole']} |
| the picture gave way; calls for it by the handle in our notice, then answers | {elided['loops']} | {elided['called']} | {elided['whole']} |

{large['pictures']} pictures of 1600×1200 pixels ({large['megabytes']:.1f} MB) in one tool result, {turns} times: as text every request overflows the context ({large['overflows']} of {turns} refused by the server); through photic none does, they take {large['tokens'][1]} tokens with all the words, and the model names {large['hit']} of {large['of']} cells of the last one, each of them being the last once. By their number it tells them apart badly: {large['numbered']} of {large['numbered_of']} cells. That is the model's limit, not the wire's: pictures that come one after another it keeps apart.
""".strip()
begin, end = "<!-- measured -->\n", "<!-- /measured -->"
text = page.read_text()
head, tail = text.split(begin)[0], text.split(end)[1]
new = head + begin + "\n".join(rows) + "\n\n" + words + "\n" + end + tail
if os.environ.get("PHOTIC_BLESS"):
    page.write_text(new)
print(*rows, "", words, "", sep="\n")
for line in lines:
    if line.get("wrong"):
        print("wrong:", line["path"], line.get("kind", ""), json.dumps(line["wrong"][:2]))
for failure in failed:
    print("FAILED", failure)
print(f"{passed} passed, {len(failed)} failed")
sys.exit(bool(failed))
