"""The compose file of deploy/compose, read by docker-compose, and its nginx in front of real gateways.

No container is started: images cannot be had here. What nginx.conf promises is tried with nginx
and three gateways as processes on loopback.

    compose.py PHOTIC          the binary; needs docker-compose, nginx and promtool
"""
import http.client, http.server, json, os, pathlib, shutil, signal, socket, subprocess, sys, tempfile, threading

import tomli, yaml

import settings
from free_port import free_port
from waiting import until

photic = sys.argv[1]
root = pathlib.Path(__file__).resolve().parents[3]
FOLDER = root / "deploy/compose"


# The file.

def composed(work):
    """What docker-compose makes of it, with fresh secrets; it refuses without them."""
    copy = work / "deploy/compose"
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns(".env"))
    shutil.copytree(FOLDER.parent / "dashboards", work / "deploy/dashboards")
    config = ["docker-compose", "--profile", "setup", "--profile", "watch", "config"]
    without = subprocess.run(config, cwd=copy, capture_output=True, text=True)
    assert without.returncode != 0 and "./secrets" in without.stderr, "it goes without secrets"
    subprocess.run(["./secrets"], cwd=copy, check=True)
    assert (copy / ".env").stat().st_mode & 0o077 == 0
    again = subprocess.run(["./secrets"], cwd=copy, capture_output=True)
    assert again.returncode != 0, "secrets were written over"
    secrets = [line.split("=", 1)[1] for line in (copy / ".env").read_text().splitlines()][1:]
    assert len(set(secrets)) == 4 and min(map(len, secrets)) > 20
    for file in copy.iterdir():
        assert file.name == ".env" or not any(secret in file.read_text() for secret in secrets)
    return yaml.safe_load(subprocess.run(config, cwd=copy, check=True, capture_output=True, text=True).stdout)


def judge(found):
    services = found["services"]
    gateways = {name: service for name, service in services.items() if name.startswith("gateway-")}
    assert len(gateways) == 3
    drain = settings_of("photic.toml").get("timeouts", {}).get("drain_s", 30)
    for service in [*gateways.values(), *(services[name] for name in ("examine", "retire", "tenant"))]:
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and not service.get("ports"), service
        assert int(service["stop_grace_period"].removesuffix("s")) > drain
    for name, service in services.items():
        for port in service.get("ports", []):
            published = port if isinstance(port, str) else str(port)
            assert published.startswith("127.0.0.1:"), f"{name} is open to the world: {published}"
        assert ":" in service["image"] or service["image"] == "photic", f"{name}: any version"
    for name in ("postgres", "garage"):
        assert list(services[name]["networks"]) == ["stores"] and services[name]["healthcheck"], name
    assert found["networks"]["stores"]["internal"] is True
    # All of them name the same bucket, address and port.
    fleet = settings_of("photic.toml")["fleet"]
    garage, store = services["garage"]["environment"], settings_of("garage.toml")["s3_api"]
    port = store["api_bind_addr"].rsplit(":", 1)[1]
    assert fleet["bucket"] == f"s3://{garage['GARAGE_DEFAULT_BUCKET']}?endpoint=http://garage:{port}&region={store['s3_region']}"
    assert services["examine"]["command"][-1] == fleet["bucket"]
    database = services["postgres"]["environment"]
    assert fleet["postgres"] == f"postgres://{database['POSTGRES_USER']}@postgres/{database['POSTGRES_DB']}"
    servers = [f"server {name}:4141 " for name in gateways]
    assert all((FOLDER / "nginx.conf").read_text().count(server) == 1 for server in servers)
    return services


def settings_of(name):
    return tomli.loads((FOLDER / name).read_text())


# nginx, for real.

class Upstream(http.server.BaseHTTPRequestHandler):
    """Answers with a stream of three events, each once the one before was read, or with how much came."""
    protocol_version = "HTTP/1.1"
    read, held = threading.Semaphore(0), False

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if b'"stream":true' in body[-40:]:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for number in range(3):
                event = f"data: {{\"n\":{number}}}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                self.wfile.flush()
                # The next one follows when this one was read.
                Upstream.held |= not Upstream.read.acquire(timeout=60)
            self.wfile.write(b"0\r\n\r\n")
            return
        said = json.dumps({"id": "1", "object": "chat.completion", "model": "m", "choices": [], "came": len(body)}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        pass


def gateway(work, port, upstream):
    (work / "empty.toml").write_text("")
    return subprocess.Popen([photic, "serve", "--listen", f"127.0.0.1:{port}", "--upstream", upstream, "--log", "off",
                             "--config", work / "empty.toml"], env={**os.environ, "XDG_STATE_HOME": str(work)})


def post(port, body, path="/v1/chat/completions"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", path, body, {"content-type": "application/json"})
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def conversation(filler=0, stream=False):
    body = {"model": "m", "messages": [{"role": "user", "content": "x" * filler}], "stream": stream}
    return json.dumps(body, separators=(",", ":")).encode()


def until_open(port):
    def opened():
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    until(opened, f"port {port} is open")


def behind_nginx(work):
    upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    front, ports = free_port(), [free_port() for _ in range(3)]
    text = (FOLDER / "nginx.conf").read_text().replace("listen 4141;", f"listen 127.0.0.1:{front};")
    for number, port in enumerate(ports, 1):
        text = text.replace(f"gateway-{number}:4141", f"127.0.0.1:{port}")
    (work / "nginx.conf").write_text(text.replace("/tmp/nginx", str(work / "nginx-")))
    gateways = [gateway(work, port, f"http://127.0.0.1:{upstream.server_port}") for port in ports]
    log = (work / "log").open("w+")
    nginx = subprocess.Popen(["nginx", "-e", "stderr", "-c", work / "nginx.conf", "-g", "daemon off;"], stdout=log, stderr=log)
    try:
        for port in [front, *ports]:
            until_open(port)
        status, said = post(front, conversation())
        assert status == 200, (status, said)
        body = conversation(filler=50_000_000)
        status, said = post(front, body)
        assert status == 200 and json.loads(said)["came"] == len(body), (status, said[:200])
        # Its end is not waited for: nginx answers by the length that is declared.
        assert status_of_declared(front, 65 << 20) == 413
        assert events_come_one_by_one(front) == 3
        assert half_a_body_is_under_way(front, ports), "bodies are kept before they are passed on"
        for path in ("/health", "/ready", "/metrics"):
            assert post(front, b"{}", path)[0] == 404, f"callers see {path}"
        gateways[0].send_signal(signal.SIGKILL)
        gateways[0].wait()
        # A request that nginx puts on a connection it had kept, before it sees that its end is gone, gets a 502: it is
        # not for a balancer to send it again. Asked here is what comes after that moment.
        until(lambda: all(post(front, conversation())[0] == 200 for _ in range(6)), "nginx sees that a gateway is gone")
        # As Gemini's clients do it.
        keyed = "/v1beta/models/m:generateContent?key=MARKER"
        answers = [post(front, conversation(), keyed)[0] for _ in range(60)]
        assert answers == [200] * 60, answers
        assert "MARKER" not in (work / "log").read_text(), "nginx tells keys"
        gateways[1].send_signal(signal.SIGTERM)
        # The same moment: a request on a connection that nginx had kept is refused with 503 by a gateway that stops.
        until(lambda: all(post(front, conversation())[0] == 200 for _ in range(6)), "nginx sees that a gateway stops")
        answers = [post(front, conversation())[0] for _ in range(60)]
        assert answers == [200] * 60, answers
        return len(answers) * 2
    finally:
        nginx.send_signal(signal.SIGQUIT)
        for process in gateways:
            process.terminate()
        for process in [nginx, *gateways]:
            process.wait(timeout=40)


def status_of_declared(port, length):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as one:
        one.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % length)
        return int(one.recv(100).split()[1])


def half_a_body_is_under_way(port, gateways):
    body = conversation(filler=1_000_000)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as one:
        one.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n" % len(body) + body[:500_000])
        until(lambda: sum(in_flight(gateway) for gateway in gateways) == 1, "half a body is under way")
        one.sendall(body[500_000:])
        return one.recv(100).split()[1] == b"200"


def in_flight(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/metrics")
    page = connection.getresponse().read().decode()
    return int(next(line.split()[1] for line in page.splitlines() if line.startswith("photic_requests_in_flight ")))


def events_come_one_by_one(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("POST", "/v1/chat/completions", conversation(stream=True), {"content-type": "application/json"})
    reply, events = connection.getresponse(), 0
    while line := reply.readline():
        if line.startswith(b"data: "):
            events += 1
            Upstream.read.release()
    assert not Upstream.held, "events were held back"
    return events


with tempfile.TemporaryDirectory(prefix="photic-compose.") as name:
    work = pathlib.Path(name)
    work.chmod(0o755)
    services = judge(composed(work))
    settings.check(photic, (FOLDER / "photic.toml").read_text())
    # Beside its rules, as in the container.
    shutil.copy(FOLDER / "prometheus.yaml", work / "deploy/dashboards/prometheus.yaml")
    subprocess.run(["promtool", "check", "config", work / "deploy/dashboards/prometheus.yaml"], check=True, stdout=subprocess.DEVNULL)
    answered = behind_nginx(work)
print(f"compose: {len(services)} services; nginx passed {answered} requests while a gateway was killed and one stopped")
