"""Callers, budgets, tokens, reload and certificates, at three processes of the real binary.

    check.py PHOTIC FOLDER     the binary, and a folder for keys and files

The gateways share one file of meters and stand before `photic mock`. An identity provider on loopback serves its keys.
"""
import base64, collections, concurrent.futures, hmac, http.client, http.server, json, os, pathlib, shutil, signal, socket
import ssl, subprocess, sys, threading, time

import anthropic, jwt, openai
from cryptography.hazmat.primitives.asymmetric import ec, rsa

photic, work = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import until  # noqa: E402

ISSUER = "https://login.example"
MODEL, CLAUDE = "gpt-5.4", "claude-sonnet-5"
LIMIT = 20_000
CALLERS = 16


# The identity provider.

class Issuer(http.server.BaseHTTPRequestHandler):
    keys, asked = [], 0

    def do_GET(self):
        Issuer.asked += 1
        body = json.dumps({"keys": self.keys}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def public(kid, key):
    algorithm = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    jwk = json.loads(algorithm.to_jwk(key.public_key()))
    return {**jwk, "kid": kid, "use": "sig"}


def token(key, kid, algorithm="RS256", **changes):
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": "photic", "sub": "by-token", "exp": now + 600, **changes}
    return jwt.encode({k: v for k, v in claims.items() if v is not None}, key, algorithm, headers={"kid": kid})


def signed_with_public_key(key, until_):
    """A token whose shared secret is the public key. PyJWT refuses to make one."""
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")
    parts = ({"alg": "HS256", "kid": key["kid"]}, {"iss": ISSUER, "aud": "photic", "sub": "x", "exp": until_})
    text = b".".join(part(json.dumps(it).encode()) for it in parts)
    return (text + b"." + part(hmac.digest(json.dumps(key).encode(), text, "sha256"))).decode()


# Processes.

class Gateway:
    def __init__(self, name, environment):
        self.log = (work / f"{name}.log").open("w+")
        self.process = subprocess.Popen([photic, "serve", "--config", work / f"{name}.toml"], stderr=self.log,
                                        env=environment)
        start = until(self.first, f"{name} listens")
        self.url, self.admin = start["address"], start["admin"]

    def told(self):
        return pathlib.Path(self.log.name).read_text()

    def first(self):
        assert self.process.poll() is None, self.told()
        line = self.told().split("\n")[0]
        return "\n" in self.told() and json.loads(line)

    def metric(self, line):
        host = self.admin.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=30)
        connection.request("GET", "/metrics")
        return line in connection.getresponse().read().decode().split("\n")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=60) == 0, self.told()


def post(url, key, body, path="/v1/chat/completions", header="authorization"):
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    value = f"Bearer {key}" if header == "authorization" else key
    headers = {"content-type": "application/json", **({header: value} if key else {})}
    connection.request("POST", path, json.dumps(body), headers)
    reply = connection.getresponse()
    return reply.status, dict(reply.getheaders()), json.loads(reply.read() or b"null")


def words(**more):
    return {"model": MODEL, "max_completion_tokens": 100, "messages": [{"role": "user", "content": "hello"}], **more}


def new_key(name):
    made = subprocess.run([photic, "key", "new", name, "--json"], check=True, capture_output=True, text=True)
    made = json.loads(made.stdout)
    assert made["key"].startswith(f"pk_{name}_") and made["digest"].startswith("sha256:"), made
    # Anybody can make the digest.
    sum_ = subprocess.run(["sha256sum"], input=made["key"], check=True, capture_output=True, text=True).stdout
    assert made["digest"] == "sha256:" + sum_.split()[0]
    return made


def settings(upstream, issuer, more=""):
    return f"""listen = "127.0.0.1:0"
log = "json"
{more}
[admin]
listen = "127.0.0.1:0"
[callers]
file = "{work}/callers.toml"
meters = "{work}/meters"
usage_log = "{work}/usage.jsonl"
[oidc]
issuer = "{ISSUER}"
jwks = "http://127.0.0.1:{issuer}/keys"
algorithms = ["RS256", "ES256"]
[[upstream]]
url = "{upstream}"
key = "any"
"""


def write(path, text):
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)


# Steps.

def sdks(gateway, key, picture, says):
    """The published SDKs get in with a key of ours as their API key, and see."""
    oa = openai.OpenAI(base_url=gateway.url + "/v1", api_key=key, max_retries=0)
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + picture}}
    reply = oa.chat.completions.create(model=MODEL, max_completion_tokens=200, messages=[{"role": "user", "content": [part]}])
    assert says in reply.choices[0].message.content, reply
    an = anthropic.Anthropic(base_url=gateway.url, api_key=key, max_retries=0)
    part = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}
    reply = an.messages.create(model=CLAUDE, max_tokens=200, messages=[{"role": "user", "content": [part]}])
    assert says in reply.content[0].text, reply
    for client, error, call in [
        (openai.OpenAI(base_url=gateway.url + "/v1", api_key="pk_x_wrong", max_retries=0), openai.AuthenticationError,
         lambda c: c.chat.completions.create(**words())),
        (anthropic.Anthropic(base_url=gateway.url, api_key="pk_x_wrong", max_retries=0), anthropic.AuthenticationError,
         lambda c: c.messages.create(model=CLAUDE, max_tokens=1, messages=[{"role": "user", "content": "x"}])),
    ]:
        try:
            call(client)
        except error as refused:
            assert refused.response.headers["x-photic-error"] == "no_caller_key", refused
        else:
            raise AssertionError("a wrong key got in")
    print("sdks: two see with a key, and say what is wrong without one")


def tokens(gateway, old, new):
    def ask(value):
        status, headers, _ = post(gateway.url, value, words())
        return status, headers.get("x-photic-error")
    assert ask(token(old, "old")) == (200, None)
    Issuer.keys = [public("old", old), public("new", new)]
    assert ask(token(new, "new", "ES256")) == (200, None), "a key that was added"
    now = int(time.time())
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    refused = {
        "expired": token(old, "old", exp=now - 300),
        "early": token(old, "old", nbf=now + 300),
        "audience": token(old, "old", aud="another"),
        "issuer": token(old, "old", iss="https://evil.example"),
        "no end": token(old, "old", exp=None),
        "forged": token(stranger, "old"),
        "unknown key": token(stranger, "made-up"),
        "none": jwt.encode({"iss": ISSUER, "aud": "photic", "sub": "x", "exp": now + 60}, None, "none",
                           headers={"kid": "old"}),
        "shared secret": signed_with_public_key(public("old", old), now + 60),
    }
    for what, value in refused.items():
        status, code = ask(value)
        expected = "token_expired" if what == "expired" else "token_refused"
        assert (status, code) == (401, expected), (what, status, code)
    before = Issuer.asked
    for number in range(40):
        ask(token(stranger, f"made-up-{number}"))
    assert Issuer.asked - before <= 5, Issuer.asked - before
    print(f"tokens: 2 accepted, {len(refused)} refused, {Issuer.asked} fetches of keys")


def budgets(gateways, keys):
    """Sixteen callers against their limits, from three processes."""
    def spend(number):
        key, spent, codes, largest = keys[f"c{number}"], 0, collections.Counter(), 0
        body = words(messages=[{"role": "user", "content": "word " * 200}], user=f"c{number}")
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for round_ in range(500):
                urls = [gateways[(round_ + n) % 3].url for n in range(3)]
                for status, headers, reply in pool.map(lambda url: post(url, key, body), urls):
                    if status == 200:
                        cost = reply["usage"]["prompt_tokens"] + reply["usage"]["completion_tokens"]
                        spent, largest = spent + cost, max(largest, cost)
                    else:
                        assert status == 429, (status, reply)
                        assert int(headers["retry-after"]) >= 1 and reply["error"]["code"] == headers["x-photic-error"]
                        codes[headers["x-photic-error"]] += 1
                if codes["over_budget"]:
                    return spent, largest, codes
        raise AssertionError(f"c{number} never reached its limit: {spent}")

    with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
        found = list(pool.map(spend, range(CALLERS)))
    for number, (spent, largest, _) in enumerate(found):
        assert LIMIT <= spent + largest and spent <= LIMIT + largest, (number, spent, largest)
    codes = sum((codes for _, _, codes in found), collections.Counter())
    most = max(spent for spent, _, _ in found)
    print(f"budgets: {CALLERS} callers at 3 processes, at most {most} of {LIMIT} tokens, {dict(codes)}")


def reload(gateway, name, text, key):
    """Settings change by SIGHUP while requests run; wrong ones are refused, and nothing is lost."""
    path, stop, counts = work / f"{name}.toml", threading.Event(), collections.Counter()

    def ask():
        connection = http.client.HTTPConnection(gateway.url.removeprefix("http://"), timeout=60)
        while not stop.is_set():
            connection.request("POST", "/v1/chat/completions", json.dumps(words()),
                               {"content-type": "application/json", "authorization": f"Bearer {key}"})
            reply = connection.getresponse()
            reply.read()
            counts[reply.status] += 1

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    done = lambda result, count: gateway.metric(f'photic_reloads_total{{result="{result}"}} {count}')
    for round_ in range(1, 21):
        write(path, text + f"[policy]\nkeep = {round_}\n")
        gateway.process.send_signal(signal.SIGHUP)
        until(lambda: done("done", round_), "the settings are reloaded")
    for round_, wrong in enumerate(["listn = 1\n" + text, text + "[policy]\nretention = 'never'\n",
                                    text.replace('log = "json"', 'log = "off"')], 1):
        write(path, wrong)
        gateway.process.send_signal(signal.SIGHUP)
        until(lambda: done("refused", round_), "the settings are refused")
    stop.set()
    for thread in threads:
        thread.join()
    assert set(counts) == {200}, counts
    write(path, text)
    connection = http.client.HTTPConnection(gateway.admin.removeprefix("http://"), timeout=30)
    connection.request("POST", "/reload")
    reply = connection.getresponse()
    assert (reply.status, json.loads(reply.read())) == (200, {"status": "reloaded"})
    events = collections.Counter(json.loads(line)["event"] for line in gateway.told().splitlines())
    assert events["reloaded"] == 21 and events["reload_refused"] == 3, events
    print(f"reload: 21 times and 3 refused, {counts[200]} requests, none lost")


def certificate(name):
    """A certificate for localhost, by openssl."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost",
                    "-keyout", work / "tls.key.part", "-out", work / "tls.crt.part"], check=True, capture_output=True)
    (work / "tls.key.part").replace(work / "tls.key")
    (work / "tls.crt.part").replace(work / "tls.crt")
    shutil.copy(work / "tls.crt", work / f"{name}.crt")
    return work / f"{name}.crt"


def tls(environment, text, key):
    first = certificate("first")
    write(work / "tls.toml", text + f'[tls]\ncertificate = "{work}/tls.crt"\nkey = "{work}/tls.key"\nwatch_s = 1\n')
    gateway = Gateway("tls", environment)
    try:
        assert gateway.url.startswith("https://"), gateway.url
        port = int(gateway.url.rsplit(":", 1)[1])

        def presented(authority):
            context = ssl.create_default_context(cafile=authority)
            context.set_alpn_protocols(["h2", "http/1.1"])
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=30) as plain:
                    with context.wrap_socket(plain, server_hostname="localhost") as secured:
                        return secured.selected_alpn_protocol()
            except ssl.SSLError:
                return None

        def curl(authority, version):
            if not shutil.which("curl"):
                return "200 " + version
            asked = subprocess.run(
                ["curl", "-sS", f"--http{version}", "--cacert", authority, "--resolve", f"localhost:{port}:127.0.0.1",
                 "-o", "/dev/null", "-w", "%{http_code} %{http_version}", "-H", f"authorization: Bearer {key}",
                 "-H", "content-type: application/json", "-d", json.dumps(words()),
                 f"https://localhost:{port}/v1/chat/completions"], check=True, capture_output=True, text=True)
            return asked.stdout

        assert presented(first) == "h2"
        assert [curl(first, version) for version in ("1.1", "2")] == ["200 1.1", "200 2"]
        second = certificate("second")
        until(lambda: presented(second) == "h2", "the certificate is replaced")
        assert presented(first) is None
        assert curl(second, "2") == "200 2"
        gateway.end()
    finally:
        if gateway.process.poll() is None:
            gateway.process.kill()
    print("tls: HTTP/1.1 and HTTP/2, and a certificate that was replaced")


def usage(keys):
    lines = [json.loads(line) for line in (work / "usage.jsonl").read_text().splitlines()]
    by_caller = collections.Counter()
    for line in lines:
        by_caller[line["caller"]] += line["input"] + line["output"]
        assert line["model"] in (MODEL, CLAUDE) and line["estimated"] is False, line
    assert all(by_caller[f"c{number}"] >= LIMIT * 0.9 for number in range(CALLERS)), by_caller
    assert {"ci", "by-token"} <= set(by_caller), by_caller
    everything = (work / "usage.jsonl").read_text() + "".join(path.read_text() for path in work.glob("*.log"))
    assert not any(key in everything for key in keys.values()), "a key was written"
    print(f"usage: {len(lines)} lines of {len(by_caller)} callers")


def main():
    old, new = rsa.generate_private_key(public_exponent=65537, key_size=2048), ec.generate_private_key(ec.SECP256R1())
    Issuer.keys = [public("old", old)]
    issuer = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Issuer)
    threading.Thread(target=issuer.serve_forever, daemon=True).start()
    made = {name: new_key(name) for name in ["ci", *(f"c{number}" for number in range(CALLERS))]}
    keys = {name: one["key"] for name, one in made.items()}
    entries = [f'[[caller]]\nname = "{name}"\ndigest = "{one["digest"]}"\n'
               + ("" if name == "ci" else f"tokens_per_day = {LIMIT}\n") for name, one in made.items()]
    write(work / "callers.toml", "".join(entries))
    chart = work / "chart.png"
    says = subprocess.run([photic, "mock", "--chart", "3", "-o", chart], check=True, capture_output=True, text=True)
    picture = base64.b64encode(chart.read_bytes()).decode()
    environment = {**os.environ, "XDG_STATE_HOME": str(work)}
    mock = subprocess.Popen([photic, "mock"], stdout=subprocess.PIPE, text=True)
    gateways = []
    try:
        text = settings(mock.stdout.readline().strip(), issuer.server_port)
        for number in range(3):
            write(work / f"g{number}.toml", text)
            gateways.append(Gateway(f"g{number}", environment))
        sdks(gateways[0], keys["ci"], picture, says.stdout.strip())
        tokens(gateways[0], old, new)
        # A day that ends meanwhile has a limit of its own.
        while True:
            day = time.time() // 86_400
            budgets(gateways, keys)
            if time.time() // 86_400 == day:
                break
        reload(gateways[1], "g1", text, keys["ci"])
        for gateway in gateways:
            gateway.end()
        usage(keys)
        tls(environment, text, keys["ci"])
    finally:
        for gateway in gateways:
            if gateway.process.poll() is None:
                gateway.process.kill()
        mock.send_signal(signal.SIGTERM)
        mock.wait(timeout=60)


main()
