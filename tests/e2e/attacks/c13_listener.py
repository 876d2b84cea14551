"""The listener: connections, timeouts, methods, hosts and paths."""
import atexit, contextlib, http.client, json, os, signal, socket, subprocess, threading, time

import harness
from harness import CHAT_REPLY, Photic, Upstream, attack, free_port, harm_if, serving, until
from running import CHAT
from waiting import LONG

made = {}


def shared():
    """One gateway before an upstream whose address has a path."""
    if not made:
        made["upstream"] = Upstream()
        made["photic"] = Photic(f"[[upstream]]\nurl = '{made['upstream'].url}/tenant-a'\n")
        atexit.register(made["photic"].close)
    return made["photic"], made["upstream"]


def settings_with(**wanted):
    """Those settings that this binary knows, as TOML: a binary without a limit is attacked without it."""
    schema = json.loads(subprocess.run([harness.PHOTIC, "schema"], capture_output=True, check=True).stdout)
    text = ""
    for table, keys in wanted.items():
        known = schema["properties"][table]["properties"]
        text += f"[{table}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items() if key in known)
    return text


def forwarded(head):
    """Bytes that must not become a request to an upstream."""
    photic, upstream = shared()
    before = len(upstream.requests)
    photic.raw(head, timeout=2)
    asked = [request.path for request in upstream.requests[before:]]
    harm_if(asked, f"an upstream was asked: {asked}")


BODY = b'{"model":"m","messages":[]}'
REST = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)
HOST = b"Host: 127.0.0.1\r\n"


def post(path, host=HOST):
    return b"POST " + path + b" HTTP/1.1\r\n" + host + REST


for name, head in {
    "CONNECT is forwarded": b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\nconnection: close\r\n\r\n",
    "no Host": post(b"/v1/chat/completions", b""),
    "no Host in HTTP/1.0": b"GET /v1/models HTTP/1.0\r\n\r\n",
    "two Hosts": post(b"/v1/chat/completions", HOST + b"Host: other.example\r\n"),
    "two equal Hosts": post(b"/v1/chat/completions", HOST + HOST),
    "a Host that is none": post(b"/v1/chat/completions", b"Host: a b\r\n"),
    "a Host with a name and password": post(b"/v1/chat/completions", b"Host: user:secret@127.0.0.1\r\n"),
    "an empty Host": post(b"/v1/chat/completions", b"Host: \r\n"),
    "a target with another host": post(b"http://other.example/v1/chat/completions"),
    "a path with ..": post(b"/v1/../../tenant-b/keys"),
    "a path with .. at its end": post(b"/v1/files/.."),
    "a path with %2e%2e": post(b"/%2e%2e/tenant-b/keys"),
    "a path with .%2E": post(b"/.%2E/tenant-b/keys"),
    "a path with ..%2f": post(b"/..%2ftenant-b/keys"),
    "a path with %252e": post(b"/%252e%252e/tenant-b/keys"),
    "a path with %5c": post(b"/..%5ctenant-b/keys"),
    "a path with //": post(b"//tenant-b/v1/chat/completions"),
    "a path with /./": post(b"/v1/./chat/completions"),
    "a path with a line in it": post(b"/v1/files/a%0d%0ahost:%20b"),
    "a path with NUL": post(b"/v1/files/a%00b"),
}.items():
    attack(13, name, head=head)(forwarded)


def drip(port, count, head=b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nx-slow: "):
    """Connections that have begun a request and do not go on."""
    open_ones = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            one = socket.create_connection(("127.0.0.1", port), timeout=5)
            open_ones.append(one)
            one.sendall(head)
    return open_ones


def is_answered(port, path="/health", status=200):
    with contextlib.suppress(OSError, http.client.HTTPException):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", path)
        return connection.getresponse().status == status
    return False


@attack(13, "300 dripping connections starve /health")
def dripping():
    with Upstream() as upstream, serving(upstream, wrap=("prlimit", "--nofile=256:256")) as photic:
        slow = drip(photic.port, 300)
        answered = is_answered(photic.port)
        for one in slow:
            one.close()
        harm_if(not answered, "/health is not answered")


@attack(13, "300 dripping connections starve the operators' port")
def dripping_admin():
    with Upstream() as upstream:
        admin = free_port()
        settings = f"[admin]\nlisten = '127.0.0.1:{admin}'\n"
        with serving(upstream, settings, wrap=("prlimit", "--nofile=256:256")) as photic:
            slow = drip(photic.port, 300)
            answered = is_answered(admin)
            for one in slow:
                one.close()
            harm_if(not answered, "/health is not answered")


@attack(13, "300 silent connections starve a caller")
def silent():
    with Upstream() as upstream, serving(upstream, wrap=("prlimit", "--nofile=256:256")) as photic:
        idle = drip(photic.port, 300, b"")
        try:
            status = photic.chat(CHAT, timeout=10)[0]
        except OSError:
            status = None
        for one in idle:
            one.close()
        harm_if(status != 200, f"a caller got {status}")


@attack(13, "dripping connections to the operators' port starve it")
def dripping_at_admin():
    with Upstream() as upstream:
        admin = free_port()
        settings = f"[admin]\nlisten = '127.0.0.1:{admin}'\n"
        with serving(upstream, settings, wrap=("prlimit", "--nofile=256:256")) as photic:
            slow = drip(admin, 300, b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nx-slow: ")
            try:
                status = photic.chat(CHAT, timeout=10)[0]
            except OSError:
                status = None
            answered = is_answered(admin)
            for one in slow:
                one.close()
            harm_if(not answered or status != 200, f"/health: {answered}, a caller got {status}")


@attack(13, "700 connections are all kept")
def many():
    with Upstream() as upstream, serving(upstream, wrap=("prlimit", "--nofile=1024:1024")) as photic:
        idle = drip(photic.port, 700, b"")

        def closed():
            gone = 0
            for one in idle:
                one.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    with contextlib.suppress(ConnectionError):
                        one.recv(1)
                    gone += 1
            return gone
        with contextlib.suppress(TimeoutError):
            until(closed, "some are closed")
        some = closed()
        for one in idle:
            one.close()
        harm_if(not some, "none of them was closed")


def drips_on(slow):
    """Sends a byte now and then; harm, if nobody ends that within many times what is set."""
    end = time.monotonic() + LONG
    with contextlib.suppress(ConnectionError):
        slow.settimeout(0.3)
        while time.monotonic() < end:
            slow.sendall(b"x")
            with contextlib.suppress(TimeoutError):
                slow.recv(100)
                return
    harm_if(time.monotonic() >= end, f"the connection is still there after {LONG} s")


@attack(13, "a head that does not end holds its connection")
def endless_head():
    # What is set here is short; a binary that has no such setting gets more than any should take.
    settings = settings_with(timeouts={"header_s": 2})
    with Upstream() as upstream, serving(upstream, settings) as photic:
        with contextlib.closing(drip(photic.port, 1)[0]) as slow:
            drips_on(slow)


@attack(13, "a head that does not end, behind a request")
def endless_second_head():
    settings = settings_with(timeouts={"header_s": 2})
    with Upstream() as upstream, serving(upstream, settings) as photic:
        with contextlib.closing(socket.create_connection(("127.0.0.1", photic.port), timeout=10)) as slow:
            slow.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            while b'"ok"' not in slow.recv(4096):
                pass
            slow.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nx-slow: ")
            drips_on(slow)


class Flood:
    """An upstream whose reply has no end; `is_cut` once nobody takes it any more."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.is_cut = threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        connection, _ = self.socket.accept()
        with connection:
            connection.recv(65536)
            piece = b"x" * 65536
            with contextlib.suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n")
                while True:
                    connection.sendall(piece)
            self.is_cut.set()


def unread(path):
    flood = Flood()
    with Photic(f"[timeouts]\nidle_s = 2\n[[upstream]]\nurl = '{flood.url}'\n") as photic:
        with contextlib.closing(socket.create_connection(("127.0.0.1", photic.port))) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(post(path))
            client.recv(100)
            harm_if(not flood.is_cut.wait(12), "the reply is held for a client that does not read it")


attack(13, "a client that does not read its reply", path=b"/v1/chat/completions")(unread)
attack(13, "a client that does not read what is passed on", path=b"/v1/files")(unread)


@contextlib.contextmanager
def draining(settings="", admin=None):
    """A gateway that was told to stop while a request is under way."""
    go = threading.Event()

    def answer(request):
        go.wait(30)
        return 200, {}, CHAT_REPLY
    with Upstream(answer) as upstream, serving(upstream, settings) as photic:
        found = []
        asking = threading.Thread(target=lambda: found.append(photic.chat(CHAT)[0]))
        asking.start()
        until(lambda: upstream.requests, "the request is under way")
        ready = lambda: ask_anything(admin or photic.port, "GET", "/ready")[0]
        before = ready()
        os.kill(photic.pid, signal.SIGTERM)
        # What it does once it knows is what is looked at; one that never shows it is looked at, too.
        with contextlib.suppress(TimeoutError):
            until(lambda: ready() != before, "it knows that it is to stop", 10)
        try:
            yield photic, lambda: found
        finally:
            go.set()
            asking.join(30)


def ask_anything(port, method, path, body=None):
    """Status, headers and body; nothing if it is not answered."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request(method, path, body, {"content-type": "application/json"})
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()
    except (OSError, http.client.HTTPException) as why:
        return type(why).__name__, {}, b""


@attack(13, "who comes while it stops is not answered")
def stopping():
    with draining() as (photic, _):
        status, headers, body = ask_anything(photic.port, "POST", "/v1/chat/completions", json.dumps(CHAT))
        harm_if(status != 503 or "retry-after" not in headers or b'"stopping"' not in body,
                f"{status}, {dict(headers)}, {body[:100]!r}")


@attack(13, "/ready is not answered while it stops")
def stopping_ready():
    with draining() as (photic, _):
        harm_if((status := ask_anything(photic.port, "GET", "/ready")[0]) != 503, f"{status}")


@attack(13, "/health is not answered while it stops")
def stopping_health():
    admin = free_port()
    with draining(f"[admin]\nlisten = '127.0.0.1:{admin}'\n", admin) as (_, found):
        harm_if((status := ask_anything(admin, "GET", "/health")[0]) != 200, f"{status}")
    harm_if(found() != [200], f"what was under way: {found()}")
