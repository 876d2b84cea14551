"""Addresses that grow: a few bytes of request must not make the gateway hold gigabytes."""
import http.server, json, threading, time

from heavy import at_once, gateway, over
from harness import Upstream, attack, harm_if, png

BUDGET = 256
BEGINNING = png(32, 32)
FILE = BEGINNING + bytes((20 << 20) - len(BEGINNING) - 1)


class Files:
    """A server of pictures of 20 MiB, each under as many names as one likes."""

    def __init__(self, length=True, slowly=0.0, redirects=False):
        files = self
        self.length, self.slowly, self.redirects = length, slowly, redirects

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if files.redirects and "again" not in self.path:
                    self.send_response(302)
                    self.send_header("location", self.path + "-again")
                    self.send_header("content-length", "0")
                    self.end_headers()
                    return
                self.send_response(200)
                if files.length:
                    self.send_header("content-length", str(len(FILE)))
                else:
                    self.send_header("connection", "close")
                    self.close_connection = True
                self.end_headers()
                try:
                    if files.slowly:
                        self.wfile.write(FILE[:-1000])
                        self.wfile.flush()
                        time.sleep(files.slowly)
                        self.wfile.write(FILE[-1000:])
                    else:
                        self.wfile.write(FILE)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def asked(files, count, name="a", wire="chat"):
    addresses = [f"http://127.0.0.1:{files.port}/{name}{number}.png" for number in range(count)]
    if wire == "messages":
        parts = [{"type": "image", "source": {"type": "url", "url": address}} for address in addresses]
        return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": parts}]}
    parts = [{"type": "image_url", "image_url": {"url": address}} for address in addresses]
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": parts}]}


def grown(count=30, requests=1, wire="chat", keys=1, mode="always", keep=16, **files):
    """Requests with many addresses, answered one way or the other, within the budget."""
    with Files(**files) as files, Upstream() as upstream:
        settings = f"[fetch]\nmode = '{mode}'\nprivate = ['127.0.0.1:{files.port}']\nkeep_mib = {keep}\n"
        with gateway(upstream, BUDGET, settings) as photic:
            path = "/v1/messages" if wire == "messages" else "/v1/chat/completions"

            def ask(number):
                body = asked(files, count, f"r{number}-", wire)
                key = {"authorization": f"Bearer sk-{number % keys}", "x-api-key": f"sk-{number % keys}"}
                return photic.ask("POST", path, body, key)[0]
            statuses = at_once([lambda number=number: ask(number) for number in range(requests)])
            over(photic, BUDGET)
            harm_if(None in statuses, f"a request was never answered: {statuses}")
            harm_if(not photic.is_well(), "it does not answer")


attack(6, "thirty addresses of 20 MiB in one request")(grown)
attack(6, "a hundred addresses of 20 MiB in one request", count=60)(grown)
attack(6, "addresses in Messages", wire="messages")(grown)
attack(6, "addresses without a length", length=False)(grown)
attack(6, "addresses that lead on", redirects=True)(grown)
attack(6, "addresses whose last bytes come late", slowly=0.3)(grown)
attack(6, "six requests of eight addresses", count=8, requests=6)(grown)
attack(6, "six callers with eight addresses each", count=8, requests=6, keys=6)(grown)
