"""What goes wrong, and when: the same for the same seed, and of every kind as often as of any other."""

import signal
import time
from random import Random

from world import until


class Faults:
    """What was done so far, by kind."""

    def __init__(self, fleet, seed, gap):
        self.fleet, self.random, self.gap = fleet, Random(seed), gap
        self.counts = {}

    def run(self, is_over):
        """Goes on until it is over; then everything is whole again. Whatever is started anew is
        started by this thread, and goes when it goes."""
        self.is_over = is_over
        kinds = [self.kill, self.kill, self.restart_postgres, self.cut_s3, self.slow_s3, self.stall_s3,
                 self.half_open_s3, self.cut_postgres, self.stall_postgres, self.half_open_postgres]
        begun = time.monotonic()
        while not is_over():
            self.random.shuffle(kinds)
            for kind in kinds:
                if self.wait(self.gap * self.random.uniform(0.5, 1.5)):
                    break
                at = time.monotonic() - begun
                said = kind()
                name = kind.__name__
                self.counts[name] = self.counts.get(name, 0) + 1
                with open(self.fleet.world.directory / "faults", "a") as file:
                    file.write(f"{at:7.1f} s  {name}: {said}\n")
        for node in ("s3", "postgres"):
            self.fleet.tell(f"{node}-*", "pass")

    def wait(self, seconds):
        """Waits, unless it is over meanwhile; whether it is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.is_over():
            time.sleep(0.05)
        return self.is_over()

    def kill(self):
        name = self.random.choice(self.fleet.names)
        self.fleet.world.read_meter()
        process = self.fleet.replicas[name]
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.wait(self.random.uniform(0.2, 2))
        self.fleet.replica(name)
        return name

    def restart_postgres(self):
        self.fleet.world.read_meter()
        self.fleet.restart_postgres()
        return "immediate"

    def broken(self, node, mode, least, most):
        """One replica's link, or all of them, for a while."""
        whose = self.random.choice(["*", *range(1, len(self.fleet.names) + 1)])
        for_seconds = self.random.uniform(least, most)
        self.fleet.tell(f"{node}-{whose}", mode)
        self.wait(for_seconds)
        self.fleet.tell(f"{node}-{whose}", "pass")
        return f"{node}-{whose} for {for_seconds:.1f} s"

    def cut_s3(self):
        return self.broken("s3", "cut", 1, 5)

    def slow_s3(self):
        return self.broken("s3", f"slow {self.random.choice([2000, 20000])} {self.random.choice([20, 200])}", 2, 6)

    def stall_s3(self):
        return self.broken("s3", "stall", 1, 4)

    def half_open_s3(self):
        return self.broken("s3", "half-open", 1, 4)

    def cut_postgres(self):
        return self.broken("postgres", "cut", 1, 4)

    def stall_postgres(self):
        return self.broken("postgres", "stall", 1, 4)

    def half_open_postgres(self):
        return self.broken("postgres", "half-open", 1, 3)


class Upgrade:
    """One replica after the other is told to stop, and started again with another program, while requests come."""

    def __init__(self, fleet, program):
        self.fleet, self.program = fleet, program
        self.counts = {"replaced": 0}

    def run(self, is_over):
        self.fleet.photic = self.program
        for name in self.fleet.names:
            self.requests(name, is_over)
            process = self.fleet.replicas[name]
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            code = process.wait(timeout=120)
            if code:
                raise SystemExit(f"load: {name} was told to stop and exited with {code}")
            self.fleet.replica(name)
            self.fleet.until_ready()
            self.counts["replaced"] += 1
            with open(self.fleet.world.directory / "faults", "a") as file:
                file.write(f"{name}: replaced in {time.monotonic() - begun:.1f} s\n")
        self.requests(self.fleet.names[-1], is_over)

    def requests(self, name, is_over):
        """Waits until a replica has had requests since it started: nothing is shown by replacing an idle one."""
        def busy():
            if is_over():
                raise SystemExit("load: the agents were done before every replica was replaced; give them more turns")
            return any(line.startswith("photic_requests_total") and not line.endswith(" 0")
                       for line in self.fleet.get(name, "/metrics").splitlines())
        until(f"a request for {name}", busy)
