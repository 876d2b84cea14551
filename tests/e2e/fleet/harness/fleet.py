"""The fleet in its world: three replicas, a front, PostgreSQL, S3, a provider, a collector of traces,
and links that break between replicas and stores.
"""

import pathlib
import re
import socket
import subprocess

from world import World, until

HERE = pathlib.Path(__file__).resolve().parent
START, STOP = HERE.parent / "start", HERE.parent / "stop"

REPLICA = """\
listen = "{address}:4141"
log = "json"
[telemetry]
otlp = "http://{collector}:4318"
[admin]
listen = "{address}:4142"
[timeouts]
connect_s = 5
answer_s = 50
[record]
acknowledge = true
[policy]
retention = "{retention}"
[fleet]
postgres = "postgres://postgres@{postgres}:{postgres_port}/postgres"
bucket = "s3://photic?endpoint=http://{s3}:{s3_port}"
[[upstream]]
url = "http://{provider}:8000"
"""

FRONT = """\
daemon off;
worker_processes 1;
pid {directory}/nginx.pid;
error_log {logs}/front-errors.log warn;
events {{ worker_connections 4096; }}
http {{
  access_log {logs}/front.log combined buffer=64k;
  client_body_temp_path {directory}/nginx-bodies;
  proxy_temp_path {directory}/nginx-proxied;
  fastcgi_temp_path {directory}/nginx-1;
  uwsgi_temp_path {directory}/nginx-2;
  scgi_temp_path {directory}/nginx-3;
  client_max_body_size 64m;
  keepalive_requests 1000000;
  upstream fleet {{
    {servers}
    keepalive 64;
    keepalive_requests 1000000;
  }}
  server {{
    listen {address}:80;
    location / {{
      proxy_pass http://fleet;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
      proxy_connect_timeout 2s;
      proxy_read_timeout 60s;
    }}
  }}
}}
"""


class Fleet:
    """Everything is up when this is made."""

    def __init__(self, world: World, programs, count=3, s3="swift", retention="priced", photic=None):
        self.retention = retention
        #: The program that replicas are started with, which may be of another version than the harness.
        self.photic = pathlib.Path(photic or pathlib.Path(programs) / "photic")
        self.world, self.programs, self.s3 = world, pathlib.Path(programs), s3
        self.names = [f"replica{number}" for number in range(1, count + 1)]
        self.replicas = {}
        self.broken = {}
        world.node("front", 2)
        for number, name in enumerate(self.names):
            world.node(name, 11 + number)
        for number, name in enumerate(["postgres", "s3", "provider", "collector", "agents"]):
            world.node(name, 21 + number)
        self.stores()
        self.provider()
        world.start("collector", "collector", "python3", HERE / "collector.py",
                    world.addresses["collector"], world.directory / "traces.jsonl")
        for name in self.names:
            self.replica(name)
        self.front()
        self.until_ready()

    def stores(self):
        world = self.world
        environment = {}
        for node, server in (("postgres", "postgres"), ("s3", self.s3)):
            directory = world.directory / node
            directory.mkdir(mode=0o755)
            world.within(node, START, directory, server)
            text = (directory / "environment").read_text()
            environment.update(re.findall(r"export (\w+)='?([^'\n]+)", text))
        self.environment = {name: value for name, value in environment.items() if name.startswith("AWS_")}
        ports = {
            "postgres": re.search(r":(\d+)/", environment["PHOTIC_FLEET_POSTGRES"])[1],
            "s3": re.search(r":(\d+)$", environment[f"PHOTIC_FLEET_BUCKET_{self.s3.upper()}"])[1],
        }
        for node, first in (("postgres", 5430), ("s3", 8080)):
            address = world.addresses[node]
            # Number 0 is for whoever looks afterwards.
            numbers = range(len(self.names) + 1)
            links = [f"{node}-{n}={address}:{first + n}-127.0.0.1:{ports[node]}" for n in numbers]
            self.links(node, links)
        self.postgres = f"postgres://postgres@{world.addresses['postgres']}:5430/postgres"
        self.bucket = f"s3://photic?endpoint=http://{world.addresses['s3']}:8080"

    def links(self, node, links):
        control = self.world.directory / f"{node}.links"
        self.world.start(node, f"links-{node}", self.programs / "fleet-test-links", "--control", control, *links)
        until(f"links to {node}", control.exists)
        self.broken[node] = control

    def tell(self, name, mode):
        """Tells links how to be: `s3-*`, `cut`."""
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(self.broken[name.split("-")[0]]))
            line.sendall(f"{name} {mode}\n".encode())
            answer = line.recv(100).decode().strip()
        assert answer.isdigit() and int(answer) > 0, (name, mode, answer)

    def provider(self):
        """It listens on loopback only; a link leads there."""
        world = self.world
        self.mock = world.start("provider", "provider", self.programs / "photic", "mock", "--port", 8001)
        self.links("provider", [f"provider-0={world.addresses['provider']}:8000-127.0.0.1:8001"])

    def replica(self, name):
        world, number = self.world, self.names.index(name) + 1
        settings = world.directory / f"{name}.toml"
        addresses = world.addresses
        settings.write_text(REPLICA.format(
            address=addresses[name], collector=addresses["collector"], provider=addresses["provider"],
            postgres=addresses["postgres"], postgres_port=5430 + number,
            s3=addresses["s3"], s3_port=8080 + number, retention=self.retention,
        ))
        program = self.photic
        # What it learned about endpoints is nobody else's, and no file of the user.
        home = {"XDG_STATE_HOME": str(world.directory / f"{name}.state"), **self.environment}
        self.replicas[name] = world.start(
            name, name, program, "serve", "--config", settings, environment=home)

    def front(self):
        world = self.world
        servers = "\n    ".join(
            f"server {world.addresses[name]}:4141 max_fails=2 fail_timeout=1s;" for name in self.names)
        settings = world.directory / "nginx.conf"
        settings.write_text(FRONT.format(
            directory=world.directory, logs=world.logs, servers=servers, address=world.addresses["front"]))
        world.start("front", "nginx", "nginx", "-e", world.logs / "front-errors.log", "-c", settings)

    def get(self, name, path):
        """What a replica tells its operators."""
        asked = subprocess.run(
            self.world.command("agents", "curl", "-s", "-m", "5", f"http://{self.world.addresses[name]}:4142{path}"),
            capture_output=True, text=True)
        return asked.stdout

    def states(self):
        return [self.get(name, "/ready") for name in self.names]

    def until_ready(self):
        ready = '{"status":"ready"}'
        until("the fleet", lambda: all(state == ready for state in self.states()), state=self.states)

    def pids(self):
        """The replicas as the system knows them: behind the words that started them."""
        return [self.replicas[name].pid for name in self.names]

    def replica_addresses(self):
        return [f"{self.world.addresses[name]}:4141" for name in self.names]

    def keys(self, count):
        """Tenants, and their keys in a file that only the harness reads."""
        path = self.world.directory / "tenants"
        self.world.within("agents", self.programs / "fleet-test-keys", "--postgres", self.postgres,
                          "--tenants", count, "--out", path)
        return path

    def restart_postgres(self):
        """At once, without a word to anybody: what is not on disk is gone."""
        data = self.world.directory / "postgres" / "postgres"
        binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.world.within("postgres", "runuser", "-u", "postgres", "--", binaries / "pg_ctl", "-s", "-w",
                          "-D", data, "-m", "immediate", "-l", data / "log", "restart", cwd="/")
        (self.world.directory / "postgres" / "postgres.pid").write_text(
            (data / "postmaster.pid").read_text().splitlines()[0])
