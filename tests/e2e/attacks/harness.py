"""What every attack needs: photic as a process of its own, upstreams that record what reaches them, raw connections.

An attack is a function with `@attack(CLASS, "name")`. It tries to do harm to a photic that it starts itself, and
raises `Harm` where it succeeded; where photic holds, it returns. Nothing here knows how photic is written: only the
binary is used, through its command line and its ports.
"""
import base64, contextlib, http.client, http.server, json, os, pathlib, random, re, shutil, signal, socket, subprocess
import sys, tempfile, threading, time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]
import pictures  # noqa: E402
from free_port import free_port  # noqa: E402,F401
from waiting import until  # noqa: E402,F401

# The binary that is attacked; `run` sets it.
PHOTIC = None
# All attacks, in the order of their files: (class, name, function).
ATTACKS = []
# What the attack that runs measured, with what it may be.
FIGURES = []
# What any condition may take before it counts as not met, in seconds. Generous: machines are slow at times.
TIMEOUT = 60


class Harm(Exception):
    """The attack had an effect."""


class Skipped(Exception):
    """What the attack needs is not on this machine."""


def attack(number, name, **known):
    """Registers a function as an attack of a class; `known` are its arguments, so that one function makes many."""
    def register(function):
        ATTACKS.append((number, name, lambda: function(**known)))
        return function
    return register


def harm_if(condition, what):
    if condition:
        raise Harm(what)


# Upstreams.

class Request:
    """A request as it reached an upstream."""

    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body

    @property
    def text(self):
        """All of it that could hold a secret."""
        return f"{self.path}\n{self.headers}\n".encode() + self.body

    def json(self):
        return json.loads(self.body)


CHAT_REPLY = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "seen"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}}
MESSAGES_REPLY = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                  "content": [{"type": "text", "text": "seen"}], "usage": {"input_tokens": 9, "output_tokens": 1}}


def usual_answer(request):
    """A success in the caller's own form."""
    path = request.path.split("?")[0]
    if path.endswith("/messages"):
        return 200, {}, MESSAGES_REPLY
    if path.endswith("/chat/completions"):
        return 200, {}, CHAT_REPLY
    return 200, {}, {"ok": True}


class Upstream:
    """An HTTP server on loopback. `answer(request)` gives status, headers and body (bytes, or JSON); `requests` holds
    what came."""

    def __init__(self, answer=usual_answer):
        self.requests, self.answer = [], answer
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def any(self):
                body = b""
                if "chunked" in self.headers.get("transfer-encoding", ""):
                    while size := int(self.rfile.readline().split(b";")[0], 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    body = self.rfile.read(int(self.headers.get("content-length") or 0))
                request = Request(self.command, self.path, self.headers, body)
                upstream.requests.append(request)
                status, headers, reply = upstream.answer(request)
                if not isinstance(reply, bytes):
                    reply, headers = json.dumps(reply).encode(), {"content-type": "application/json", **headers}
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(reply)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do_CONNECT = any

            def log_message(self, *_):
                pass

            def handle_one_request(self):
                with contextlib.suppress(ConnectionError, BrokenPipeError):
                    super().handle_one_request()

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def got(self, secret):
        """Whether a secret reached it."""
        return any(secret.encode() in request.text for request in self.requests)

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# photic.

def clean_environment(home, **variables):
    """An environment without anybody's keys, settings or proxies."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": f"{home}/state",
            "XDG_CONFIG_HOME": f"{home}/config", "XDG_CACHE_HOME": f"{home}/cache", "XDG_DATA_HOME": f"{home}/data",
            "NO_COLOR": "1", **variables}


class Photic:
    """A gateway: `photic serve` in a folder of its own, with settings (TOML as text) given by `--config`."""

    def __init__(self, settings="", *arguments, variables=None, folder=None, config=True, wrap=(), port=None):
        self.made = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="photic-attack."))
        (self.folder / "home").mkdir(exist_ok=True)
        self.port = port or free_port()
        command = [*(wrap or ENTER), PHOTIC, "serve", "--listen", f"127.0.0.1:{self.port}", *arguments]
        if config:
            (self.folder / "settings.toml").write_text(settings)
            command += ["--config", str(self.folder / "settings.toml")]
        self.log = self.folder / "log"
        environment = clean_environment(self.folder / "home", **(variables or {}))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)
        self.pid = self.process.pid
        try:
            until(lambda: self.process.poll() is not None or "listening" in self.said(), "photic listens")
            if self.process.poll() is not None:
                raise RuntimeError(f"photic does not start: {self.said()}")
        except BaseException:
            self.close()
            raise

    def said(self):
        return self.log.read_text(errors="replace")

    def is_alive(self):
        return self.process.poll() is None

    def status(self, name):
        """A figure of /proc/PID/status, in KiB."""
        with open(f"/proc/{self.pid}/status") as status:
            return int(re.search(rf"^{name}:\s+(\d+)", status.read(), re.M)[1])

    def resident(self):
        """Megabytes that it holds now."""
        return self.status("VmRSS") / 1024

    def peak(self):
        """Megabytes that it held at most."""
        return self.status("VmHWM") / 1024

    def ask(self, method, path, body=None, headers=None, timeout=TIMEOUT):
        """One request on a connection of its own: status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            if body is not None and not isinstance(body, (bytes, bytearray)):
                body = json.dumps(body).encode()
            connection.request(method, path, body, {"content-type": "application/json", **(headers or {})})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()

    def chat(self, body, headers=None, timeout=TIMEOUT):
        headers = {"authorization": "Bearer sk-caller", **(headers or {})}
        return self.ask("POST", "/v1/chat/completions", body, headers, timeout)

    def raw(self, sent, timeout=10):
        """Bytes as they are, and all that comes back until it closes or falls silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            connection.sendall(sent)
            connection.settimeout(timeout)
            got = b""
            with contextlib.suppress(TimeoutError, ConnectionError):
                while piece := connection.recv(65536):
                    got += piece
            return got

    def is_well(self):
        """Whether it still answers its health check."""
        try:
            return self.is_alive() and self.ask("GET", "/health", timeout=10)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def close(self):
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        if self.made:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def serving(upstream, settings="", **known):
    """A gateway before an upstream that speaks every wire."""
    return Photic(f"{settings}\n[[upstream]]\nurl = '{upstream.url}'\n", **known)


# A hard limit of memory.

GROUPS = pathlib.Path("/sys/fs/cgroup")
# The command that every gateway is started by: `run` puts it into a group of its own.
ENTER = ()


@contextlib.contextmanager
def group(mib):
    """A control group with that limit, and the command that enters it; nothing, where that is not allowed."""
    second = (GROUPS / "cgroup.controllers").exists()
    path = (GROUPS if second else GROUPS / "memory") / f"photic-attacks-{os.getpid()}"
    try:
        path.mkdir()
        (path / ("memory.max" if second else "memory.limit_in_bytes")).write_text(str(mib << 20))
        swap = path / ("memory.swap.max" if second else "memory.memsw.limit_in_bytes")
        with contextlib.suppress(OSError):
            swap.write_text("0" if second else str(mib << 20))
    except OSError as error:
        with contextlib.suppress(OSError):
            path.rmdir()
        print(f"no control group ({error}): only the peak is compared")
        yield None, ()
        return
    try:
        yield path, ("sh", "-c", f'echo $$ > {path}/cgroup.procs && exec "$@"', "enter")
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                path.rmdir()
                break
            time.sleep(0.1)


@contextlib.contextmanager
def folder():
    """A folder that is gone afterwards."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="photic-attack."))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


# Pictures and bodies.

def png(width=64, height=64, color=(200, 30, 30), level=6, noise=None):
    """A picture of one colour, or of `noise` (a seed): larger, and decoded as slowly as any."""
    if noise is not None:
        return pictures.noise(width, height, random.Random(noise), level)
    return pictures.png(width, height, (b"\0" + bytes(color) * width) * height, level=level)


def data_url(picture, kind="image/png"):
    return f"data:{kind};base64," + base64.b64encode(picture).decode()


def chat_body(*pictures, model="gpt-4o", text="what is this?", **part):
    """A Chat request of a user with pictures; `part` goes beside the address of each."""
    parts = [{"type": "text", "text": text}]
    for picture in pictures:
        address = picture if isinstance(picture, str) else data_url(picture)
        parts.append({"type": "image_url", "image_url": {"url": address, **part}})
    return {"model": model, "messages": [{"role": "user", "content": parts}]}


def tool_body(*pictures, model="gpt-4o"):
    """A Chat request whose tool gave pictures as text: what photic hoists."""
    calls = [{"id": f"c{i}", "type": "function", "function": {"name": "screenshot", "arguments": "{}"}}
             for i in range(len(pictures))]
    messages = [{"role": "user", "content": "look"}, {"role": "assistant", "content": None, "tool_calls": calls}]
    messages += [{"role": "tool", "tool_call_id": f"c{i}", "content": data_url(picture)}
                 for i, picture in enumerate(pictures)]
    return {"model": model, "messages": messages}


def pictures_in(request):
    """How many pictures an upstream was shown in a Chat or Messages request."""
    return request.body.count(b'"image_url"') // 2 + request.body.count(b'"media_type"')
