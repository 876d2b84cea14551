"""`photic run` with a command that waits, so that attacks can use the addresses that it was given; requests as clients
of each family send them; and photic in a folder that somebody else wrote."""
import http.client, json, os, pathlib, shutil, signal, subprocess, sys, tempfile, urllib.parse

import harness
from harness import TIMEOUT, clean_environment, until

# Tells its environment, and waits until it is told to end.
WAITING = ("import json, os, sys; open(sys.argv[1] + '.part', 'w').write(json.dumps(dict(os.environ))); "
           "os.rename(sys.argv[1] + '.part', sys.argv[1]); sys.stdin.read()")


class Run:
    """`photic run` in a folder: `bases` holds what its command was given."""

    def __init__(self, *arguments, variables=None, folder=None, umask=0o022):
        self.made = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="photic-attack."))
        self.outside = pathlib.Path(tempfile.mkdtemp(prefix="photic-attack."))
        (self.outside / "home").mkdir()
        told = self.outside / "told"
        environment = clean_environment(self.outside / "home", **(variables or {}))
        with open(self.outside / "log", "wb") as log:
            self.process = subprocess.Popen(
                [harness.PHOTIC, "run", *arguments, "--", sys.executable, "-c", WAITING, str(told)], cwd=self.folder,
                env=environment, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True, umask=umask)
        try:
            until(lambda: self.process.poll() is not None or told.exists(), "the command runs")
            if self.process.poll() is not None:
                raise RuntimeError(f"photic run does not start: {self.said()}")
            self.bases = json.loads(told.read_text())
        except BaseException:
            self.close()
            raise

    @property
    def port(self):
        return urllib.parse.urlsplit(self.bases["OPENAI_BASE_URL"]).port

    def said(self):
        return (self.outside / "log").read_text(errors="replace")

    def ask(self, variable, method, path, body=None, headers=None):
        """A request behind the address in a variable."""
        return ask(self.bases[variable].rstrip("/") + path, method, body, headers)

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.outside, ignore_errors=True)
        if self.made:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def ask(url, method="POST", body=None, headers=None):
    """One request: status, headers, body."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT)
    try:
        if body is not None and not isinstance(body, (bytes, bytearray)):
            body = json.dumps(body).encode()
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, body, {"content-type": "application/json", **(headers or {})})
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()
    finally:
        connection.close()


CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}
MESSAGES = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
CONVERSE = {"messages": [{"role": "user", "content": [{"text": "hello"}]}]}
