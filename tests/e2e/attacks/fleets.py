"""A fleet to attack: replicas of photic on one database and one bucket, which `tests/e2e/fleet/with` started."""
import json, os, pathlib, shutil, subprocess, tempfile, uuid

import harness

NEEDED = ("PHOTIC_FLEET_POSTGRES", "PHOTIC_FLEET_BUCKET_MOTO", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


class Fleet:
    """Replicas before an upstream; tenants have keys. Each fleet has a database and a folder of the bucket of its own."""

    def __init__(self, upstream, replicas=1, settings=""):
        if missing := [name for name in NEEDED if not os.environ.get(name)]:
            raise harness.Skipped(f"{missing[0]} is not set")
        self.name = f"attack_{uuid.uuid4().hex[:12]}"
        server = os.environ["PHOTIC_FLEET_POSTGRES"]
        self.sql(f"CREATE DATABASE {self.name}", server)
        self.postgres = server.rsplit("/", 1)[0] + f"/{self.name}"
        name, query = os.environ["PHOTIC_FLEET_BUCKET_MOTO"].split("?")
        self.bucket, self.endpoint = f"{name}/{self.name}?{query}", query.split("endpoint=")[1].split("&")[0]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="photic-attack."))
        self.variables = {name: os.environ[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION")}
        self.replicas, self.admins = [], []
        self.text = (f"[fleet]\npostgres = '{self.postgres}'\nbucket = '{self.bucket}'\n{settings}\n")
        upstreams = f"[[upstream]]\nurl = '{upstream.url}'\n"
        (self.folder / "photic.toml").write_text(self.text + upstreams)
        try:
            for _ in range(replicas):
                admin = harness.free_port()
                listen = f"[admin]\nlisten = '127.0.0.1:{admin}'\n"
                self.replicas.append(harness.Photic(f"{self.text}{listen}{upstreams}", variables=self.variables))
                self.admins.append(admin)
        except BaseException:
            self.close()
            raise

    def sql(self, statement, server=None):
        """What a statement gives, as text."""
        done = subprocess.run(["psql", "-X", "-A", "-t", "-q", "-c", statement, server or self.postgres],
                              capture_output=True, text=True, timeout=harness.TIMEOUT)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def command(self, *words, check=True):
        """`photic fleet …` with this fleet's settings."""
        environment = harness.clean_environment(self.folder, **self.variables)
        done = subprocess.run([harness.PHOTIC, "fleet", *words, "--config", str(self.folder / "photic.toml")],
                              cwd=self.folder, env=environment, capture_output=True, text=True, timeout=180)
        if check and done.returncode:
            raise RuntimeError(f"photic fleet {words}: {done.stderr}")
        return done

    def key(self, tenant):
        return json.loads(self.command("keys", "issue", tenant, "--json").stdout)["key"]

    def objects(self):
        """The keys of this fleet's folder of the bucket."""
        import re, urllib.request
        name = os.environ["PHOTIC_FLEET_BUCKET_MOTO"].split("?")[0].removeprefix("s3://")
        with urllib.request.urlopen(f"{self.endpoint}/{name}?list-type=2&prefix={self.name}/&max-keys=1000") as reply:
            return [key.removeprefix(f"{self.name}/") for key in re.findall(r"<Key>([^<]*)</Key>", reply.read().decode())]

    def metrics(self, replica=0):
        """The figures that the operator sees, by name."""
        import urllib.request
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admins[replica]}/metrics") as reply:
            lines = [line.rsplit(" ", 1) for line in reply.read().decode().splitlines() if line and line[0] != "#"]
        return {name: float(value) for name, value in lines}

    def close(self):
        for replica in self.replicas:
            replica.close()
        shutil.rmtree(self.folder, ignore_errors=True)
