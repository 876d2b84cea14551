"""The production drill, see tests/e2e/suites/77-drill.

    drill.py PHOTIC PIPE FOLDER     the binary, the bare pipe, and a folder for files

Requests go out in phases. In each phase one upstream is sound, and the other two are killed or misbehave at random, so
every request could be answered. Between phases nothing is under way: no request depends on a change being quick.
"""
import base64, collections, http.client, json, os, pathlib, queue, random, signal, ssl, subprocess, sys, threading, time

photic, pipe, work = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
root = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "tests/e2e"))
from free_port import free_port  # noqa: E402
from waiting import until  # noqa: E402

TLS = root / "crates/photic-gateway/examples/measure/tls"
REQUESTS = int(os.environ.get("DRILL_REQUESTS", "300"))
SEED = int(os.environ.get("DRILL_SEED", "1"))
CLIENTS, PHASES, CHARTS = 8, max(6, REQUESTS // 100), 12
CALM = range(1, 401, 4)
CALLER = "key-of-caller"
KEYS = {"a": {"key-of-a"}, "b": {"key-of-b-1", "key-of-b-2"}, "c": {"key-of-c"}}
chance = random.Random(SEED)


# Processes.

class Process:
    """A process whose first line says that it is ready."""

    def __init__(self, *command, **environment):
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})
        self.first = self.process.stdout.readline()
        assert self.first, f"{command} did not start"

    def kill(self):
        self.process.kill()
        self.process.wait()


class Upstream:
    def __init__(self, name):
        self.name, self.port, self.mock_port = name, free_port(), free_port()
        self.state, self.journal = work / f"{name}.state", work / f"{name}.journal"
        self.journal.touch()
        self.mock = Process(photic, "mock", "--port", self.mock_port)
        self.process, self.starts = None, 0
        self.share(0)
        self.start()

    def share(self, faults):
        fresh = self.state.with_suffix(".new")
        fresh.write_text(json.dumps({"faults": faults}))
        fresh.rename(self.state)

    def start(self):
        if self.process is None:
            self.starts += 1
            self.process = Process(sys.executable, root / "tests/e2e/drill/upstream.py", self.port, self.mock_port,
                                   self.state, self.journal, SEED * 1000 + self.starts)

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process = None

    def requests(self):
        return [json.loads(line) for line in self.journal.read_text().splitlines()]


# The gateway.

def pem(name, kind):
    """A file of the certificate or key for loopback that the repository has, in PEM."""
    text = base64.encodebytes((TLS / name).read_bytes()).decode()
    path = work / (name + ".pem")
    path.write_text(f"-----BEGIN {kind}-----\n{text}-----END {kind}-----\n")
    return path


def settings(upstreams, listen, admin, tls, rest):
    lines = [f'listen = "127.0.0.1:{listen}"', f'[admin]\nlisten = "127.0.0.1:{admin}"']
    if tls:
        lines.append(f'[tls]\ncertificate = "{tls[0]}"\nkey = "{tls[1]}"')
    # As many attempts as it takes to meet each upstream twice.
    lines.append(f"[failover]\nattempts = 6\nbudget_percent = 1000\nfailures = 3\nrest_s = {rest}\nwait_s = 5")
    keys = {"a": "key-of-a", "b": f"file:{work}/b.key", "c": "${DRILL_KEY}"}
    wires = {"a": "openai-chat", "b": "openai-chat", "c": "anthropic"}
    for one in upstreams:
        lines.append(f'[[upstream]]\nname = "{one.name}"\nurl = "http://127.0.0.1:{one.port}"\n'
                     f'wire = "{wires[one.name]}"\nkey = "{keys[one.name]}"\nanswer_s = 3')
    lines.append('[[model]]\nname = "sight"\nupstreams = ["a/model-a", "b/model-b", "c/model-c"]\nweights = [2, 1, 1]')
    return "\n".join(lines) + "\n"


def written(path, text):
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.rename(path)


class Gateway:
    def __init__(self, config, admin):
        self.process = subprocess.Popen([photic, "serve", "--config", config], stderr=open(work / "gateway.log", "a"),
                                        env={**os.environ, "DRILL_KEY": "key-of-c"})
        until(lambda: self.process.poll() is not None or gets(admin, "/ready")[0] == 200, "the gateway")
        assert self.process.poll() is None, (work / "gateway.log").read_text()


def gets(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    reply = connection.getresponse()
    return reply.status, reply.read().decode()


def can_reload(config, admin):
    """Sends SIGHUP to a gateway that nobody uses. Programs without reloading end by it."""
    gateway = Gateway(config, admin)
    gateway.process.send_signal(signal.SIGHUP)
    try:
        gateway.process.wait(timeout=5)
        return False
    except subprocess.TimeoutExpired:
        return gets(admin, "/health")[0] == 200
    finally:
        gateway.process.kill()
        gateway.process.wait()


# Requests.

def charts():
    """Pictures, and what the mock says of each."""
    made = []
    for number in range(CHARTS):
        path = work / f"{number}.png"
        words = subprocess.run([photic, "mock", "--chart", str(number + 1), "-o", path], check=True,
                               capture_output=True, text=True).stdout.strip()
        made.append((base64.b64encode(path.read_bytes()).decode(), words))
    return made


def request(number, picture, model="sight"):
    """A turn in which a tool returned a picture, by one wire or the other. Every fourth one is a stream."""
    stream = number % 4 == 3
    if number % 2:
        source = {"type": "base64", "media_type": "image/png", "data": picture}
        messages = [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "shot", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1",
                                          "content": [{"type": "image", "source": source}]}]}]
        tools = [{"name": "shot", "input_schema": {"type": "object"}}]
        headers = {"x-api-key": CALLER, "anthropic-version": "2023-06-01"}
        path = "/v1/messages"
    else:
        call = {"id": "c1", "type": "function", "function": {"name": "shot", "arguments": "{}"}}
        url = {"url": f"data:image/png;base64,{picture}"}
        messages = [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "image_url", "image_url": url}]}]
        tools = [{"type": "function", "function": {"name": "shot", "parameters": {"type": "object"}}}]
        headers = {"authorization": f"Bearer {CALLER}"}
        path = "/v1/chat/completions"
    body = {"model": model, "max_tokens": 300, "messages": messages, "tools": tools, "stream": stream}
    return path, headers, json.dumps(body)


def text_of(path, stream, body):
    if not stream:
        reply = json.loads(body)
        return reply["content"][0]["text"] if "messages" in path else reply["choices"][0]["message"]["content"]
    said = ""
    for line in body.splitlines():
        if not line.startswith("data: {"):
            continue
        event = json.loads(line[6:])
        if "messages" in path:
            said += event.get("delta", {}).get("text", "")
        else:
            said += "".join(choice["delta"].get("content") or "" for choice in event["choices"])
    return said


def ask(port, number, picture, context=None, model="sight"):
    """Sends one request. Gives the status, the text, the upstreams it went to, and the time it took."""
    path, headers, body = request(number, picture, model)
    began = time.monotonic()
    connection = (http.client.HTTPSConnection("localhost", port, timeout=300, context=context) if context
                  else http.client.HTTPConnection("127.0.0.1", port, timeout=300))
    try:
        connection.request("POST", path, body, {"content-type": "application/json", **headers})
        reply = connection.getresponse()
        trail, whole = reply.getheader("x-photic-upstream", ""), reply.read().decode()
    finally:
        connection.close()
    took = time.monotonic() - began
    if reply.status != 200:
        return reply.status, whole, trail, took
    return 200, text_of(path, number % 4 == 3, whole), trail, took


def together(numbers, do):
    """Does something for every number, some at a time. Gives the results."""
    waiting, results = queue.SimpleQueue(), []
    for number in numbers:
        waiting.put(number)

    def client():
        while True:
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                results.append(do(number))
            except Exception as error:  # A request that got no answer at all is one of the results.
                results.append((number, 0, repr(error), "", 0))

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def spread(times):
    ordered = sorted(times)
    at = lambda share: ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000
    return f"p50 {at(0.5):.1f} ms, p99 {at(0.99):.1f} ms"


def main():
    upstreams = [Upstream(name) for name in KEYS]
    pictures = charts()
    schema = json.loads(subprocess.run([photic, "schema"], check=True, capture_output=True, text=True).stdout)
    files = (pem("loopback.der", "CERTIFICATE"), pem("loopback.key.der", "PRIVATE KEY"))
    tls = files if "tls" in schema["properties"] else None
    context = ssl.create_default_context(cafile=TLS / "authority.pem") if tls else None
    config, (listen, admin) = work / "photic.toml", (free_port(), free_port())
    (work / "b.key").write_text("key-of-b-1\n")
    written(config, settings(upstreams, listen, admin, tls, 1))
    reloads = can_reload(config, admin)
    gateway = Gateway(config, admin)

    stop, reloaded = threading.Event(), 0

    def reload():
        nonlocal reloaded
        while not stop.wait(1):
            reloaded += 1
            # Keys in files are read again without a signal.
            written(work / "b.key", f"key-of-b-{1 + reloaded % 2}\n")
            if reloads:
                written(config, settings(upstreams, listen, admin, tls, 1 + reloaded % 2))
                for file in tls or ():
                    written(file, file.read_text())
                gateway.process.send_signal(signal.SIGHUP)

    reloading = threading.Thread(target=reload)
    reloading.start()

    def send(number):
        picture, words = pictures[number % CHARTS]
        status, said, trail, took = ask(listen, number, picture, context)
        return number, status, said, trail, took

    lost, blind, failovers, answered = [], [], 0, collections.Counter()
    try:
        for phase in range(PHASES):
            sound = chance.choice(upstreams)
            for one in upstreams:
                if one is sound:
                    one.share(0)
                    one.start()
                elif chance.random() < 0.4:
                    one.kill()
                else:
                    one.share(0.7)
                    one.start()
            each = range(phase * REQUESTS // PHASES, (phase + 1) * REQUESTS // PHASES)
            for number, status, said, trail, _ in together(each, send):
                if status != 200:
                    lost.append((number, sound.name, status, said[:300], trail))
                elif pictures[number % CHARTS][1] not in said:
                    blind.append((number, said[:300], trail))
                failovers += "failed=" in trail
                answered[trail.split(";")[0]] += 1
            assert gateway.process.poll() is None, "the gateway ended"
        for one in upstreams:
            one.share(0)
            one.start()
        # Messages that are no streams, as beside the pipe below.
        calm = [took for *_, took in together(CALM, send)]
    finally:
        stop.set()
        reloading.join()
    metrics = gets(admin, "/metrics")[1]
    print(f"{REQUESTS} requests in {PHASES} phases, {failovers} went to more than one upstream, answered by {dict(answered)}")
    print(f"settings and certificates reloaded {reloaded if reloads else 0} times, keys {reloaded} times, TLS: {bool(tls)}")
    for line in metrics.splitlines():
        if line.startswith("photic_upstream_requests_total"):
            print(" ", line)

    # Every request that an upstream could have answered was answered, and from its picture.
    assert not lost, f"{len(lost)} lost: {lost[:5]}"
    assert not blind, f"{len(blind)} not seen: {blind[:5]}"
    # Circuits keep most requests from upstreams that failed.
    assert failovers > REQUESTS // 25, "hardly anything failed: the drill proves nothing"
    # No key at a host that it was not meant for.
    for one in upstreams:
        seen = one.requests()
        assert seen, one.name
        for entry in seen:
            keys = {value.removeprefix("Bearer ") for value in entry["keys"].values()}
            assert keys and keys <= KEYS[one.name], (one.name, entry)
    faults = collections.Counter(entry["fault"] for one in upstreams for entry in one.requests())
    print("faults:", dict(faults))

    # Beside the bare pipe, to an upstream that does nothing but answer. Printed, not judged.
    piped = subprocess.Popen([pipe, f"http://127.0.0.1:{upstreams[0].port}"], stdout=subprocess.PIPE, text=True)
    port = int(piped.stdout.readline().strip().rsplit(":", 1)[-1])
    bare = together(CALM, lambda number: (number, *ask(port, number, pictures[number % CHARTS][0], model="model-a")))
    print(f"gateway: {spread(calm)}; bare pipe: {spread([took for *_, took in bare])}")
    piped.terminate()
    gateway.process.terminate()
    gateway.process.wait(timeout=120)
    for one in upstreams:
        one.kill()
        one.mock.kill()


main()
