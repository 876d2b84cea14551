"""Machines of a world of their own: network namespaces on one bridge, and the processes in them.

Addresses are 10.77.0.N and lead nowhere else. Everything that was started is ended, by process id,
when the world is; what a world left behind that was killed is cleared away by the next.
"""

import os
import pathlib
import re
import signal
import subprocess
import threading
import time

PREFIX = "photic-load-"
TICKS = os.sysconf("SC_CLK_TCK")


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


def namespaces():
    listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line.startswith(PREFIX)]


def inside(namespace):
    """The processes of a namespace."""
    found = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True)
    return [int(pid) for pid in found.stdout.split()]


def clear(namespace):
    """Ends what is in a namespace, and the namespace."""
    for _ in range(50):
        pids = inside(namespace)
        if not pids:
            break
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.1)
    subprocess.run(["ip", "netns", "del", namespace], capture_output=True)


def clear_left_behind():
    """Worlds whose maker is gone."""
    for namespace in namespaces():
        maker = re.match(rf"{PREFIX}(\d+)-", namespace)
        if maker and not pathlib.Path(f"/proc/{maker[1]}").exists():
            clear(namespace)


class World:
    def __init__(self, directory):
        clear_left_behind()
        self.directory = pathlib.Path(directory)
        self.logs = self.directory / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.prefix = f"{PREFIX}{os.getpid()}-"
        self.addresses = {}
        self.cpu = {}
        self.ended = threading.Event()
        ip("netns", "add", self.namespace("hub"))
        self.within("hub", "ip", "link", "add", "bridge", "type", "bridge")
        self.within("hub", "ip", "link", "set", "bridge", "up")
        self.meter = threading.Thread(target=self._meter, daemon=True)
        self.meter.start()

    def namespace(self, node):
        return self.prefix + node

    def node(self, name, number):
        """A machine; its address."""
        namespace = self.namespace(name)
        ip("netns", "add", namespace)
        port = f"port{number}"
        ip("link", "add", port, "netns", self.namespace("hub"), "type", "veth",
           "peer", "name", "eth0", "netns", namespace)
        self.within("hub", "ip", "link", "set", port, "master", "bridge", "up")
        address = f"10.77.0.{number}"
        self.within(name, "ip", "address", "add", f"{address}/24", "dev", "eth0")
        self.within(name, "ip", "link", "set", "eth0", "up")
        self.within(name, "ip", "link", "set", "lo", "up")
        self.addresses[name] = address
        return address

    def command(self, node, *command):
        return ["ip", "netns", "exec", self.namespace(node), *map(str, command)]

    def within(self, node, *command, **options):
        """Runs something to its end, on a machine; what it says."""
        options = {"check": True, "text": True, "stdout": subprocess.PIPE, **options}
        return subprocess.run(self.command(node, *command), **options).stdout

    def start(self, node, name, *command, environment=None):
        """Starts something on a machine; what it says is in a log of its name."""
        with open(self.logs / f"{name}.log", "ab") as log:
            # It goes when we go, however that happens.
            return subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *self.command(node, *command)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                env={**os.environ, **(environment or {})},
            )

    def _meter(self):
        """Notes how much CPU time each process has had, as long as it can be seen."""
        while not self.ended.wait(1):
            self.read_meter()

    def read_meter(self):
        for node in list(self.addresses):
            for pid in inside(self.namespace(node)):
                try:
                    stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
                except OSError:
                    continue
                name, rest = stat[stat.index("(") + 1:].rsplit(")", 1)
                words = rest.split()
                spent = (int(words[11]) + int(words[12])) / TICKS
                self.cpu[(node, name, pid, words[19])] = spent

    def spent(self):
        """CPU seconds by machine and program, the most first."""
        self.read_meter()
        sums = {}
        for (node, name, _, _), seconds in self.cpu.items():
            sums[(node, name)] = sums.get((node, name), 0) + seconds
        return sorted(sums.items(), key=lambda item: -item[1])

    def close(self):
        self.ended.set()
        self.meter.join()
        for namespace in namespaces():
            if namespace.startswith(self.prefix):
                clear(namespace)


def until(what, ready, seconds=60, state=lambda: ""):
    """Waits until it is so; or says how it is, and gives up."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise SystemExit(f"load: {what} takes too long {state()}")
        time.sleep(0.1)
