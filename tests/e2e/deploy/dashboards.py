"""The dashboard and the alerts of deploy/dashboards, asked by Prometheus of a real gateway.

Every metric that is named exists, every metric that exists is shown, every expression has an
answer, and every alert is heard when it should be and not otherwise.

    dashboards.py PHOTIC       the binary; needs prometheus and promtool
"""
import base64, http.client, json, os, pathlib, re, shutil, signal, subprocess, sys, tempfile
import urllib.parse, urllib.request

import yaml

from free_port import free_port
from waiting import until

photic = sys.argv[1]
root = pathlib.Path(__file__).resolve().parents[3]
FOLDER = root / "deploy/dashboards"
NAME = re.compile(r"\b(?:photic|process)_[a-z_]+\b")
# Not of a family of its own: the page says their base name.
OF_HISTOGRAM = ("_bucket", "_sum", "_count")


def expressions():
    """Everything that is asked: where, and what."""
    found = []
    board = json.loads((FOLDER / "photic.json").read_text())
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    taken = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & taken, f"`{panel['title']}` lies over another"
        taken |= cells
        found += [(panel["title"], target["expr"]) for target in panel.get("targets", [])]
    found += [(note["name"], note["expr"]) for note in board["annotations"]["list"]]
    for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]:
        found += [(rule["alert"], rule["expr"]) for rule in group["rules"]]
    return found


def alerts_have_their_part():
    headings = {re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
                for line in (root / "docs/runbook.md").read_text().splitlines() if line.startswith("#")}
    tested = (root / "tests/e2e/deploy/alerts.test.yaml").read_text()
    for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]:
        for rule in group["rules"]:
            page, _, part = rule["annotations"]["runbook"].partition("#")
            assert (root / page).is_file() and part in headings, f"{rule['alert']}: nothing at #{part}"
            assert rule["labels"]["severity"] in ("page", "ticket")
            assert re.search(rf"alertname: {rule['alert']}\n +exp_alerts:", tested), f"{rule['alert']} is never heard"
            assert f"alertname: {rule['alert']} }}" in tested, f"{rule['alert']} is never silent"


def rules_hold(work):
    for name in (FOLDER / "alerts.yaml", root / "tests/e2e/deploy/alerts.test.yaml"):
        shutil.copy(name, work)
    subprocess.run(["promtool", "check", "rules", work / "alerts.yaml"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["promtool", "test", "rules", work / "alerts.test.yaml"], check=True, stdout=subprocess.DEVNULL)


# A gateway that was used.

def get(port, path, **query):
    address = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(address, timeout=20) as reply:
        return reply.read().decode()


def use(port, key, picture):
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}}
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    body = {"model": "gpt-5.4", "messages": [
        {"role": "user", "content": "look"}, {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": [image]}]}
    for path, sent in (("/v1/chat/completions", body), ("/v1/messages", {"model": "m", "messages": []}), ("/v1/unknown", body)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("POST", path, json.dumps(sent), {"content-type": "application/json", "authorization": f"Bearer {key}"})
        connection.getresponse().read()


def watched(work):
    """Starts everything, uses it while Prometheus looks, and hands over what it saw."""
    chart, port, admin, watcher, nobody = work / "chart.png", free_port(), free_port(), free_port(), free_port()
    subprocess.run([photic, "mock", "--chart", "3", "-o", chart], check=True, stdout=subprocess.DEVNULL)
    made = subprocess.run([photic, "key", "new", "tester"], capture_output=True, text=True, check=True)
    (work / "callers.toml").write_text(made.stdout)
    key = re.search(r"\bpk_\S+", made.stderr)[0]
    (work / "prometheus.yaml").write_text(yaml.safe_dump({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": ["alerts.yaml"],
        "scrape_configs": [{"job_name": "photic", "static_configs": [{"targets": [f"127.0.0.1:{admin}"]}]}]}))
    processes = []
    try:
        mock = subprocess.Popen([photic, "mock"], stdout=subprocess.PIPE, text=True)
        processes.append(mock)
        upstream = mock.stdout.readline().strip()
        (work / "photic.toml").write_text(f"""
[admin]
listen = '127.0.0.1:{admin}'
[callers]
file = '{work}/callers.toml'
[[upstream]]
name = 'mock'
wire = 'openai-chat'
url = '{upstream}'
key = 'k'
[[upstream]]
name = 'nobody'
wire = 'anthropic'
url = 'http://127.0.0.1:{nobody}'
credentials = 'own'
[[model]]
name = 'gpt-5.4'
upstreams = ['mock', 'nobody']
""")
        processes.append(subprocess.Popen(
            [photic, "serve", "--listen", f"127.0.0.1:{port}", "--log", "off", "--config", work / "photic.toml"], env={**os.environ, "XDG_STATE_HOME": str(work)}))
        processes.append(subprocess.Popen(
            ["prometheus", f"--config.file={work / 'prometheus.yaml'}", f"--storage.tsdb.path={work / 'data'}",
             f"--web.listen-address=127.0.0.1:{watcher}", "--log.level=error"]))
        picture = base64.b64encode(chart.read_bytes()).decode()
        until(lambda: get(admin, "/health"))
        until(lambda: get(watcher, "/-/ready"))
        # It takes its time until it looks for the first time.
        until(lambda: answer(watcher, "up"))
        looks = lambda: int(answer(watcher, "sum(count_over_time(up[1h]))")[0]["value"][1])
        for _ in range(5):
            seen = looks()
            use(port, key, picture)
            until(lambda: looks() > seen, "Prometheus looks again")
        page = get(admin, "/metrics")
        answers = {(where, asked): answer(watcher, asked) for where, asked in expressions()}
        return page, answers, json.loads(get(watcher, "/api/v1/rules"))["data"]["groups"]
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait(timeout=40)


def answer(port, asked):
    for variable, value in (("$__rate_interval", "1m"), ("$job", "photic"), ("$instance", ".*")):
        asked = asked.replace(variable, value)
    return json.loads(get(port, "/api/v1/query", query=asked))["data"]["result"]


def judge(page, answers, groups):
    families = set(re.findall(r"^# TYPE (\S+)", page, re.M))
    def family(name):
        base = next((name.removesuffix(end) for end in OF_HISTOGRAM if name.endswith(end)), name)
        return base if base in families else name
    named = {family(name) for _, asked in answers for name in NAME.findall(asked)}
    unknown = named - families
    assert not unknown, f"no gateway has {sorted(unknown)}"
    assert not families - named, f"nobody looks at {sorted(families - named)}"
    alerts = {rule["name"] for group in groups for rule in group["rules"]}
    for (where, asked), result in answers.items():
        if where not in alerts and where != "Restarts":
            assert result, f"`{where}` shows nothing: {asked}"
    assert all(rule["health"] == "ok" for group in groups for rule in group["rules"]), groups
    return len(families)


with tempfile.TemporaryDirectory(prefix="photic-dashboards.") as name:
    work = pathlib.Path(name)
    alerts_have_their_part()
    rules_hold(work)
    page, answers, groups = watched(work)
    count = judge(page, answers, groups)
print(f"dashboards: {count} metrics, {len(answers)} expressions, {sum(len(group['rules']) for group in groups)} alerts")
