"""The parts of the suite: an upstream that keeps what it got, Envoy, photic, and an HTTP client without manners."""
import copy, http.client, http.server, json, pathlib, re, socket, subprocess, sys, threading

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from free_port import free_port
from waiting import until

PAGE = pathlib.Path("docs/howto/envoy.md")
FILTER = "envoy.filters.http.ext_proc"


class Upstream(http.server.ThreadingHTTPServer):
    """Answers every request with its own body, and keeps what it got."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Keeper)
        self.got = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    port = property(lambda self: self.server_address[1])

    def handle_error(self, request, client_address):
        """Envoy breaks a request off that photic refuses when a part of it was sent."""


class Keeper(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])) if "content-length" in self.headers else self.chunks()
        self.server.got.append((self.path, dict(self.headers), body))
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def chunks(self):
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body

    def log_message(self, *_):
        pass


class Program:
    """A program that is stopped at the end."""

    def __init__(self, arguments, log):
        self.log = log
        with log.open("wb") as out:
            self.process = subprocess.Popen([str(one) for one in arguments], stdout=out, stderr=out)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=60)

    def said(self):
        return self.log.read_text(errors="replace")


def is_open(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        return True


def processor(photic, work, *options, name="photic"):
    """`photic extproc`, and its port."""
    port = free_port()
    program = Program([photic, "extproc", "--listen", f"127.0.0.1:{port}", *options], work / f"{name}.log")
    until(lambda: program.process.poll() is not None or is_open(port), "photic extproc")
    assert program.process.poll() is None, program.said()
    return program, port


def documented():
    """The configuration on the page."""
    return yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGE.read_text(), re.S)[1])


def configuration(processor_port, upstream_port, port, mode=None, **options):
    """The configuration on the page with the addresses of this machine, and perhaps another body mode."""
    config = copy.deepcopy(documented())
    resources = config["static_resources"]
    listener, clusters = resources["listeners"][0], {one["name"]: one for one in resources["clusters"]}
    listener["address"]["socket_address"]["port_value"] = port

    def endpoint(cluster):
        return cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"]

    endpoint(clusters["photic"])["port_value"] = processor_port
    endpoint(clusters["provider"]).update(address="127.0.0.1", port_value=upstream_port)
    del clusters["provider"]["transport_socket"]
    clusters["provider"]["type"] = "STATIC"
    manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
    # The mock answers to the names of loopback only.
    manager["route_config"]["virtual_hosts"][0]["routes"][0]["route"]["host_rewrite_literal"] = "localhost"
    filters = manager["http_filters"]
    assert filters[0]["name"] == FILTER
    settings = filters[0]["typed_config"]
    if mode:
        settings["processing_mode"]["request_body_mode"] = mode
        settings["allow_mode_override"] = False
    if mode in ("FULL_DUPLEX_STREAMED", "STREAMED"):
        settings["processing_mode"]["request_trailer_mode"] = "SEND"
    settings.update(options)
    return config


def envoy(work, name, processor_port, upstream_port, mode=None, **options):
    """Envoy with a configuration, and its port."""
    port = free_port()
    file = work / f"{name}.yaml"
    file.write_text(yaml.safe_dump(configuration(processor_port, upstream_port, port, mode, **options)))
    binary = pathlib.Path(sys.executable).with_name("envoy")
    program = Program([binary, "-c", file, "--use-dynamic-base-id", "--concurrency", "1", "--log-level", "warn"],
                      work / f"{name}.log")
    until(lambda: program.process.poll() is not None or is_open(port), f"Envoy, {name}")
    assert program.process.poll() is None, program.said()
    return program, port


def send(port, body, path="/v1/chat/completions", chunks=None, **headers):
    """Sends a body in one piece, or chunked with pieces of a size. Returns status, headers and body of the reply."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers = {"content-type": "application/json", "authorization": "Bearer any", **headers}
    if chunks:
        pieces = (body[at:at + chunks] for at in range(0, len(body), chunks))
        connection.request("POST", path, pieces, headers, encode_chunked=True)
    else:
        connection.request("POST", path, body, headers)
    reply = connection.getresponse()
    data = reply.read()
    connection.close()
    return reply.status, {name.lower(): value for name, value in reply.getheaders()}, data


def said(data):
    """What a model said on Chat Completions."""
    return json.loads(data)["choices"][0]["message"]["content"]
