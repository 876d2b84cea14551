"""A fleet of one gateway on loopback: PostgreSQL, an S3 server, a provider that keeps every rule, and the
settings of deploy/compose with their addresses in them.
"""
import contextlib, http.client, json, os, pathlib, signal, socket, subprocess, tempfile

from free_port import free_port
from postgres import Server
from waiting import until

root = pathlib.Path(__file__).resolve().parents[3]
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1", "PGPASSWORD": "x"}


class Bucket:
    """An S3 server with one bucket; what was in it is gone when it is started again."""

    def __init__(self, moto):
        """`moto` is the folder of its programs."""
        self.moto, self.port, self.process = pathlib.Path(moto), free_port(), None

    def start(self):
        self.process = subprocess.Popen([self.moto / "moto_server", "-H", "127.0.0.1", "-p", str(self.port)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: socket.create_connection(("127.0.0.1", self.port)).close() or True)
        subprocess.run([self.moto / "python", root / "tests/e2e/fleet/make_bucket.py", "photic", f"http://127.0.0.1:{self.port}"],
                       check=True, env={**os.environ, **CREDENTIALS})

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()


class Gateway:
    def __init__(self, photic, work, postgres, bucket, upstream):
        self.photic, self.port, self.admin = photic, free_port(), free_port()
        text = (root / "deploy/compose/photic.toml").read_text()
        for old, new in (("0.0.0.0:4141", f"127.0.0.1:{self.port}"), ("0.0.0.0:4142", f"127.0.0.1:{self.admin}"),
                         ("postgres://photic@postgres/photic", postgres.address("photic")),
                         ("http://garage:3900", f"http://127.0.0.1:{bucket.port}"), ("region=garage", "region=us-east-1")):
            assert old in text, old
            text = text.replace(old, new)
        (work / "photic.toml").write_text(text)
        self.work = work
        self.environment = {**os.environ, **CREDENTIALS, "PHOTIC_CONFIG": str(work / "photic.toml")}
        self.process = subprocess.Popen([photic, "serve", "--upstream", upstream, "--log", "off"], cwd=work, env=self.environment)

    def command(self, *words):
        return subprocess.run([self.photic, *words], cwd=self.work, env=self.environment, capture_output=True, text=True)

    def ask(self, method, path, body=None, port=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=30)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()

    def away(self):
        status, _, body = self.ask("GET", "/ready", port=self.admin)
        told = json.loads(body)
        assert status == 200 and told["status"] == ("degraded" if told.get("away") else "ready"), told
        return told.get("away", [])

    def metric(self, line):
        return line in self.ask("GET", "/metrics", port=self.admin)[2].decode().splitlines()


@contextlib.contextmanager
def running(photic, moto):
    """The gateway, its database and its bucket, and a folder for whatever is needed."""
    with tempfile.TemporaryDirectory(prefix="photic-fleet.") as name, contextlib.ExitStack() as ends:
        work = pathlib.Path(name)
        work.chmod(0o755)
        postgres = Server(work)
        ends.callback(postgres.stop)
        postgres.ask("CREATE DATABASE photic", "postgres")
        bucket = Bucket(moto)
        ends.callback(bucket.stop)
        bucket.start()
        mock = subprocess.Popen([photic, "mock"], stdout=subprocess.PIPE, text=True)
        ends.callback(mock.wait)
        ends.callback(mock.kill)
        gateway = Gateway(photic, work, postgres, bucket, mock.stdout.readline().strip())
        ends.callback(gateway.process.wait)
        ends.callback(gateway.process.kill)
        until(lambda: gateway.away() == [])
        yield gateway, postgres, bucket, work
        gateway.process.send_signal(signal.SIGTERM)
        assert gateway.process.wait(timeout=40) == 0
