"""Holds what `photic probe --offline --json` found against what is known of the server: REPORT EXPECTED PAGE.

What is known of it is in the profiles, too (`llama-cpp`, `llama-cpp-responses`, `llama-cpp-messages`): a server that
behaves otherwise is a fact that they lack. PHOTIC_BLESS=1 writes the table of docs/vision.md anew."""
import json, os, pathlib, sys

report, expected = (json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:3])
page = pathlib.Path(sys.argv[3])
reports = report["reports"] if isinstance(report, dict) else report
found, honesty, passed, failed = {}, [], 0, []
for one in reports:
    for finding in one["findings"]:
        name = finding["place"] if finding["format"] == "png" else finding["format"]
        found[name, one["wire"]] = finding
    honesty += [(one["wire"], told["notice"], told["claims"], told["answers"]) for told in one["honesty"]]
apis = expected["apis"]
for name, verdict in {**expected["places"], **expected["formats"]}.items():
    for api in apis:
        wanted = expected["exceptions"].get(f"{name} {api}", verdict)
        finding = found[name, api]
        said = finding["verdict"]
        # The model reads some places less well than others; that pixels arrive is proved by either verdict.
        holds = {"not sees": said != "sees", "arrives": said in ("sees", "weak")}.get(wanted, said == wanted)
        if holds:
            passed += 1
        else:
            failed.append(f"{name} on {api}: {said}, not {wanted}: {finding.get('why')} ({finding['hits']} of {finding['cells']})")
for api, notice, claims, answers in honesty:
    if claims == 0 and answers:
        passed += 1
    else:
        failed.append(f"{api}, {notice}: claims to see in {claims} of {answers} answers")


def cell(finding):
    if finding["verdict"] == "rejects":
        return "rejects"
    return f"{finding['verdict'].replace('_', ' ')}, {finding['hits']} of {finding['cells']}"


rows = ["| | " + " | ".join(apis) + " |", "|---" * (len(apis) + 1) + "|"]
for name in [*expected["places"], *expected["formats"]]:
    rows.append(f"| {name} | " + " | ".join(cell(found[name, api]) for api in apis) + " |")
claims, answers = sum(one[2] for one in honesty), sum(one[3] for one in honesty)
words = f"Told by our notices that a picture is not shown, it claims to see one in {claims} of {answers} answers."
begin, end = "<!-- probed -->\n", "<!-- /probed -->"
text = page.read_text()
if os.environ.get("PHOTIC_BLESS"):
    page.write_text(text.split(begin)[0] + begin + "\n".join(rows) + "\n\n" + words + "\n" + end + text.split(end)[1])
print(*rows, words, sep="\n")
for failure in failed:
    print("FAILED", failure)
print(f"{passed} passed, {len(failed)} failed")
sys.exit(bool(failed))
