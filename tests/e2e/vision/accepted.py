"""What the real server took of the corpus: RESULTS FACTS PAGE. Fails where a request is refused, or obeyed only after a
rejection, for none of the reasons in FACTS, and where the page says otherwise; PHOTIC_BLESS=1 writes it anew."""
import json, os, pathlib, sys

results, facts, page = map(pathlib.Path, sys.argv[1:])
APIS = {"openai-chat": "Chat", "openai-responses": "Responses", "anthropic": "Messages"}
known = {case: why for why, cases in json.loads(facts.read_text())["corpus"].items() for case in cases}
found = {api: json.loads((results / f"{api}.json").read_text()) for api in APIS}
rows = ["| API | requests | taken at once | after a rejection | refused |", "|---|--:|--:|--:|--:|"]
rows += [f"| {name} | {found[api]['requests']} | {found[api]['taken']} | {found[api]['healed']} | {found[api]['refused']} |"
         for api, name in APIS.items()]
seen = {case for line in found.values() for case in line["listed"]}
rows += ["", "The rest, by reason:", ""]
rows += [f"- {why}: {', '.join(f'`{case}`' for case in sorted(seen) if known.get(case) == why)}" for why in dict.fromkeys(known.values())]
print(*rows, sep="\n")
unknown = [f"{api} {case}: {why}" for api, line in found.items() for case, why in line["listed"].items() if case not in known]
print(*unknown, sep="\n")
begin, end = "<!-- corpus -->\n", "<!-- /corpus -->"
text = page.read_text()
new = text.split(begin)[0] + begin + "\n".join(rows) + "\n" + end + text.split(end)[1]
if os.environ.get("PHOTIC_BLESS"):
    page.write_text(new)
elif new != text:
    sys.exit(f"{page} says otherwise; PHOTIC_BLESS=1 writes it anew")
sys.exit(bool(unknown))
