"""What the real server took of the corpus: RESULTS PAGE. Fails where it refused or had to be obeyed first, and where
the page says otherwise; with PHOTIC_BLESS=1 the page is written anew."""
import json, os, pathlib, sys

results, page = map(pathlib.Path, sys.argv[1:])
DOORS = {"openai-chat": "Chat", "openai-responses": "Responses", "anthropic": "Messages"}
found = {door: json.loads((results / f"{door}.json").read_text()) for door in DOORS}
rows = ["| door | requests | taken | after a rejection | refused |", "|---|--:|--:|--:|--:|"]
rows += [f"| {name} | {found[door]['requests']} | {found[door]['taken']} | {found[door]['healed']} | {found[door]['refused']} |"
         for door, name in DOORS.items()]
print(*rows, sep="\n")
for door, line in found.items():
    for case, why in line["listed"].items():
        print(f"{door} {case}: {why}")
begin, end = "<!-- corpus -->\n", "<!-- /corpus -->"
text = page.read_text()
new = text.split(begin)[0] + begin + "\n".join(rows) + "\n" + end + text.split(end)[1]
if os.environ.get("PHOTIC_BLESS"):
    page.write_text(new)
elif new != text:
    sys.exit(f"{page} says otherwise; PHOTIC_BLESS=1 writes it anew")
sys.exit(any(line["refused"] or line["healed"] for line in found.values()))
