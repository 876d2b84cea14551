"""The first token of a turn as Codex sends it, with and without photic, posted and over a WebSocket: PHOTIC [TURNS].

Each turn has a chart in a tool output and 60 kB of instructions. The provider is `photic mock`, asked directly and through
`photic serve`, turn by turn. Prints the medians. At most 50 ms later is the claim; twice that fails.
"""
import base64, http.client, json, os, pathlib, secrets, socket, statistics, struct, subprocess, sys, tempfile, time
from urllib.parse import urlsplit

PHOTIC, TURNS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15
CLAIM = 50


def body(chart):
    url = "data:image/png;base64," + base64.b64encode(chart).decode()
    call = {"type": "function_call", "call_id": "call_1", "name": "view_image", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_image", "image_url": url}]}
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is in chart.png?"}]}
    return {"model": "gpt-5.6", "stream": True, "store": False, "instructions": "You are a coding agent. " * 2600,
            "input": [asked, call, output]}


def posted(url, turn):
    at = urlsplit(url)
    link = http.client.HTTPConnection(at.hostname, at.port, timeout=60)
    link.connect()
    begun = time.perf_counter()
    link.request("POST", "/v1/responses", json.dumps(turn), {"content-type": "application/json", "authorization": "Bearer any"})
    reply = link.getresponse()
    if reply.status != 200:
        sys.exit(f"{url}: {reply.status} {reply.read()[:300]}")
    for line in reply:
        if line.startswith(b"data:") and b"output_text.delta" in line:
            took = time.perf_counter() - begun
            link.close()
            return took
    sys.exit(f"{url}: no token")


class Socket:
    """A WebSocket without extensions."""

    def __init__(self, url):
        at = urlsplit(url)
        self.link = socket.create_connection((at.hostname, at.port), timeout=60)
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        head = (f"GET /v1/responses HTTP/1.1\r\nhost: {at.netloc}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
                f"sec-websocket-version: 13\r\nsec-websocket-key: {key}\r\nauthorization: Bearer any\r\n"
                "openai-beta: responses_websockets=2026-02-06\r\n\r\n")
        self.link.sendall(head.encode())
        self.file = self.link.makefile("rb")
        status = self.file.readline()
        if b" 101 " not in status:
            sys.exit(f"{url}: no socket: {status!r}")
        while self.file.readline().strip():
            pass

    def send(self, text):
        data, mask = text.encode(), secrets.token_bytes(4)
        length = len(data)
        size = bytes([0x80 | length]) if length < 126 else struct.pack(">BH", 0xFE, length) if length < 1 << 16 else struct.pack(">BQ", 0xFF, length)
        whole = int.from_bytes(data, "big") ^ int.from_bytes((mask * (length // 4 + 1))[:length], "big")
        self.link.sendall(b"\x81" + size + mask + whole.to_bytes(length, "big"))

    def receive(self):
        first, second = self.file.read(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self.file.read(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self.file.read(8))
        data = self.file.read(length)
        if first & 0x0F == 8:
            sys.exit(f"the socket was closed: {data!r}")
        return data


def framed(link, turn):
    """The time to the first token. Masking is the client's, so it is not counted."""
    text = json.dumps({"type": "response.create", **turn})
    begun = time.perf_counter()
    link.send(text)
    took = None
    while True:
        data = link.receive()
        if b"output_text.delta" in data and took is None:
            took = time.perf_counter() - begun
        if b'"response.completed"' in data or b'"type":"error"' in data:
            if took is None:
                sys.exit(f"no token: {data[:300]!r}")
            return took


def started(command, folder, name, address):
    """Starts a program, and waits until it has printed its address."""
    out = folder / name
    with open(out, "wb") as to:
        program = subprocess.Popen(command, stdout=to, stderr=subprocess.STDOUT, env={**os.environ, "HOME": str(folder)})
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = address(out.read_text())
        if found:
            return program, found
        if program.poll() is not None:
            break
        time.sleep(0.02)
    sys.exit(f"{command}: {out.read_text()}")


def url_in(text):
    return next((word.strip(".,`") for word in text.split() if word.startswith("http://")), None)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        chart = folder / "chart.png"
        subprocess.run([PHOTIC, "mock", "--chart", "7", "-o", str(chart)], check=True, capture_output=True)
        turn = body(chart.read_bytes())
        mock, direct = started([PHOTIC, "mock"], folder, "mock", url_in)
        settings = folder / "photic.toml"
        settings.write_text(f"listen = '127.0.0.1:0'\n[[upstream]]\nurl = '{direct}'\nwire = 'openai-responses'\n")
        gateway, through = started([PHOTIC, "serve", "--config", str(settings)], folder, "gateway", url_in)
        try:
            worst = 0
            sockets = [Socket(direct), Socket(through)]
            for way, run in (("POST", lambda side: posted((direct, through)[side], turn)),
                             ("WebSocket", lambda side: framed(sockets[side], turn))):
                run(0), run(1)
                times = [[run(0), run(1)] for _ in range(TURNS)]
                without, behind = (statistics.median(one) * 1000 for one in zip(*times))
                later = statistics.median(b - a for a, b in times) * 1000
                worst = max(worst, later)
                print(f"{way}: first token after {without:.1f} ms directly, {behind:.1f} ms behind photic, {later:.1f} ms later (claimed: {CLAIM})")
        finally:
            for program in (gateway, mock):
                program.terminate()
                program.wait()
        if worst > 2 * CLAIM:
            sys.exit(f"{worst:.1f} ms is more than twice what is claimed")


main()
