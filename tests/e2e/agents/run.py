"""Runs published agents behind `photic run`, and writes the table of docs/agents.md: PHOTIC AGENTS PAGE [NAME…].

Each row has a fresh home and a strict provider of its own, which answers only from pixels that it decoded. With names,
all rows whose agent begins so are run, and no others are compared or written. PHOTIC_AGENTS=all runs the long rows, too;
without either they stay in the page as they were. PHOTIC_BLESS=1 writes the page. Compared are who names the chart and what
was repaired; numbers, times and sizes are not.
"""
import concurrent.futures, json, os, pathlib, re, signal, subprocess, sys, tempfile, time, urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from packages import folder, version  # noqa: E402
from rows import ABSENT, ROWS  # noqa: E402

PHOTIC, AGENTS, PAGE = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
ONLY = sys.argv[4:]
LONG = os.environ.get("PHOTIC_AGENTS") == "all"
# Most of it is waiting for a machine that others use, too.
SECONDS = 300
HEAD = ["| agent | as | wire | names the chart | turns | repaired | bytes in → sent | photic took |", "|---|---|---|---|---|---|---|---|"]
BEGIN, END = "<!-- written by tests/e2e/suites/81-agents -->", "<!-- end -->"


def chart(path):
    done = subprocess.run([PHOTIC, "mock", "--chart", "7", "-o", str(path)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Run:
    """One row, run."""

    def __init__(self, row, home, url):
        self.row, self.home, self.url = row, home, url
        (home / "project").mkdir()
        self.chart = home / "project/chart.png"
        self.words = chart(self.chart)
        for name, text in row.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(self.known(text))

    def known(self, text):
        known = {"$CHART": self.chart, "$HOME": self.home, "$URL": self.url, "$SCRIPTS": HERE}
        for name, value in known.items():
            text = text.replace(name, str(value))
        return text

    def asked(self):
        with urllib.request.urlopen(f"{self.url}/__mock/requests") as reply:
            return json.load(reply)["requests"]

    def go(self):
        """The cells of its line, and what went wrong."""
        row, report, started = self.row, self.home / "report.json", time.monotonic()
        bins = [AGENTS / folder(row.agent) / "node_modules/.bin", AGENTS / folder(row.agent) / "bin",
                AGENTS / "node/node_modules/.bin", "/usr/bin", "/bin"]
        env = {"PATH": ":".join(map(str, bins)), "HOME": str(self.home), "XDG_STATE_HOME": str(self.home / ".state"),
               "TMPDIR": str(self.home), "NO_COLOR": "1", "CI": "1", "ANONYMIZED_TELEMETRY": "false"}
        env |= {name: self.known(value) for name, value in row.env.items()}
        before = [PHOTIC, "run", "--report", str(report)]
        settings = self.known(row.settings)
        if row.to or row.posts:
            wire = row.to or "openai-responses"
            settings += f"[[upstream]]\nurl = '{self.url}'\nwire = '{wire}'\nmodels = ['*']\n"
            if row.posts:
                settings += "websocket = false\n"
        if settings:
            (self.home / "photic.toml").write_text(settings)
            before += ["--config", str(self.home / "photic.toml")]
        command = [*before, "--", *map(self.known, row.command)]
        (self.home / "in").write_text(self.known(row.stdin))
        with open(self.home / "in", "rb") as given, open(self.home / "out", "wb") as out:
            ran = subprocess.Popen(command, stdin=given, stdout=out, stderr=subprocess.STDOUT, env=env,
                                   cwd=self.home / "project", start_new_session=True)
            try:
                code = ran.wait(SECONDS)
            except subprocess.TimeoutExpired:
                code = f"not done after {SECONDS} s"
                # The agent is told; photic ends with it.
                ran.send_signal(signal.SIGTERM)
                try:
                    ran.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(ran.pid, signal.SIGKILL)
                    ran.wait()
        said = (self.home / "out").read_text(errors="replace")
        asked = self.asked()
        seen = [one for one in asked if self.words in one["said"] and one["status"] == 200]
        took = f"{time.monotonic() - started:.0f} s"
        # It is empty if photic was ended before the agent was.
        counts = json.loads((report.read_text() if report.exists() else "") or "{}")
        leftovers = [str(path) for path in self.home.glob("photic-run-*")]
        leftovers += [str(path) for path in self.home.glob("photic-kept-*")]
        problems = []
        if leftovers:
            problems.append(f"left {leftovers} behind")
        if not counts.get("turns") and not asked:
            problems.append(f"made no request ({code}): {said[-800:]}")
        elif not counts.get("turns"):
            problems.append(f"went past photic, or no turn was read ({code}): {said[-800:]}")
        elif not seen and not row.why:
            problems.append(f"does not name the chart ({code}): {said[-800:]} {asked}")
        elif seen and row.why:
            problems.append("names the chart by now: say so in the row")
        label = f"{row.agent} {version(row.agent)}"
        if code and not problems:
            # Some end so although the model has answered.
            print(f"{label}, {row.mode}: ended with {code}: {said[-300:]}", flush=True)
        wire = row.wire + (f" → {row.to}" if row.to else "")
        turns = counts.get("turns", 0)
        repaired = ", ".join(f"{name} {count}" for name, count in sorted(counts.get("fixes", {}).items())) or "nothing"
        if asked and not turns:
            repaired = "passed unread"
        size = f"{counts.get('bytes_in', 0):,} → {counts.get('bytes_sent', 0):,}" if turns else "–"
        each = f"{counts['preparing_us'] / turns / 1000:.1f} ms a turn" if turns else "–"
        names = "yes" if seen else row.why or "no"
        cells = [label, row.mode, wire, names, str(turns or len(asked)), repaired, size, each]
        print(f"{label}, {row.mode}, {wire}: {names}; {turns} turns, {repaired}, {took}", *problems, sep="\n  ", flush=True)
        return cells, problems


def tried(row):
    """The cells of a row and its problems; nothing if its agent is not installed."""
    if not (AGENTS / folder(row.agent) / "installed").exists():
        print(f"{row.agent}: not installed, its row stays as it is", flush=True)
        return None
    # Agents may leave helpers behind that still write.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        mock = [PHOTIC, "mock"] + (["--wire", row.to] if row.to else [])
        with subprocess.Popen(mock, stdout=subprocess.PIPE, text=True) as provider:
            try:
                return Run(row, pathlib.Path(place), provider.stdout.readline().strip()).go()
            finally:
                provider.terminate()


def key(cells):
    return tuple(cells[:3])


def line(cells):
    return "| " + " | ".join(cells) + " |"


def parsed(text):
    """The lines of a page, by agent, mode and wire."""
    found = {}
    for one in text.splitlines():
        if one.startswith("| "):
            cells = [cell.strip() for cell in one.strip("| ").split(" | ")]
            found[key(cells)] = cells
    return found


def compared(cells):
    # A longer reply, a title or a check more or less is no other result.
    return [re.sub(r"\d+", "N", cell) for cell in cells[:4] + cells[5:6]]


def main():
    def is_named(row):
        return any(row.agent.startswith(one) for one in ONLY)
    rows = [row for row in ROWS if (is_named(row) if ONLY else LONG or not row.long)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(filter(None, pool.map(tried, rows)))
    problems = [problem for _, found in results for problem in found]
    # Without npm, the suite does not come here.
    if not results:
        problems.append("no row was run: no agent is installed, or none has this name")
        print(problems[-1], flush=True)
    if ONLY and not os.environ.get("PHOTIC_BLESS"):
        sys.exit(bool(problems))
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    # What failed is not a result: the page keeps what it says.
    known, new = parsed(old), {key(cells): cells for cells, found in results if not found}
    lines = []
    for row in ROWS:
        at = (f"{row.agent} {version(row.agent)}", row.mode, row.wire + (f" → {row.to}" if row.to else ""))
        cells = new.get(at) or known.get(at) or [*at, "not run yet", "–", "–", "–", "–"]
        lines.append(line(cells))
    lines += [line([agent, mode, wire, f"not run: {why}", "–", "–", "–", "–"]) for agent, mode, wire, why in ABSENT]
    if os.environ.get("PHOTIC_BLESS"):
        PAGE.write_text(before + "\n".join([BEGIN, *HEAD, *lines, END]) + after)
    else:
        for at, cells in new.items():
            if at not in known or compared(known[at]) != compared(cells):
                problems.append(f"{PAGE} says {known.get(at)}, seen was {cells}; PHOTIC_BLESS=1 writes it")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(results)} rows as docs/agents.md says")


main()
