"""Claude Code without a terminal, reading two PNG files at once: ROWS CHARTS.

One line of JSON a row: what the model said, and what it said to a question in the same session.
"""
import json, os, pathlib, subprocess, sys, tempfile

ROWS, CHARTS = map(pathlib.Path, sys.argv[1:])
CLAUDE = os.environ["CLAUDE"]
# The provider makes the calls that a user spells out.
READ = " and ".join(f'call Read with {json.dumps({"file_path": f"{CHARTS}/{n}.png"})}' for n in (1, 2))
QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}


def ask(row, home, question, *more):
    command = [CLAUDE, "-p", question, "--model", row["model"], "--output-format", "json", "--allowedTools", "Read",
               "--add-dir", str(CHARTS), *more]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                         cwd=home, env={**os.environ, **QUIET, "HOME": home})
    try:
        return json.loads(ran.stdout)
    except ValueError:
        sys.exit(f"{ran.stdout}\n{ran.stderr}")


for row in json.loads(ROWS.read_text()):
    # A session of its own; nothing is left behind.
    with tempfile.TemporaryDirectory() as home:
        first = ask(row, home, f"Please {READ}.")
        if first["is_error"]:
            result = {"status": first.get("api_error_status"), "error": first["result"]}
        else:
            more = ask(row, home, "And which colors are these?", "--resume", first["session_id"])
            result = {"said": [first["result"], more["result"]]}
    print(json.dumps({**row, **result}), flush=True)
