"""What a turn costs, and that it stays so: PROGRAMS DIRECTORY.

Requests for a CPU second with one replica and with three, on equal load for each; CPU of a turn
from the tenth to the five hundredth; bytes into the gateway with the history resent, and with
pictures uploaded once. Medians of rounds, printed as tables; fails where what is claimed is not so.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

from fleet import Fleet
from world import World

ROUNDS = int(os.environ.get("SCALING_ROUNDS", 3))
#: Sessions for each replica, and their turns.
SESSIONS, TURNS = int(os.environ.get("SCALING_SESSIONS", 60)), int(os.environ.get("SCALING_TURNS", 20))
#: How long sessions get, and how many there are of those.
DEEP = int(os.environ.get("SCALING_DEEP", 8))
MAX_TURNS = int(os.environ.get("SCALING_MAX_TURNS", 500))
RETENTION = os.environ.get("SCALING_RETENTION", "newest(3)")
#: Turns before and after one that count with it.
AROUND = 5
TOOLS = ["--wire", "anthropic", "--wire", "openai-chat", "--wire", "openai-responses", "--tools-only"]


class Load:
    def __init__(self, fleet, tenants):
        self.fleet, self.tenants, self.first = fleet, tenants, 0

    def run(self, addresses, sessions, *more):
        """A run of the agents; every run has sessions of its own."""
        directory = self.fleet.world.directory
        to = [word for address in addresses for word in ("--to", address)]
        command = self.fleet.world.command(
            "agents", self.fleet.programs / "fleet-test-agents", *to, "--tenants", self.tenants,
            "--journal", directory / "journal", "--sessions", sessions, "--first", self.first, *more)
        self.first += sessions
        report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout)
        if report["failed"] or report["unacknowledged"]:
            sys.exit(f"scaling: {report['failed'][:3]}, {report['unacknowledged']} not acknowledged")
        return report


def cpu(pids):
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0
    for pid in pids:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += (int(words[11]) + int(words[12])) / ticks
    return total


def replicas(load):
    """Requests for a CPU second of the gateways, with one and with all, and how the second is to the first.

    A machine that others use is now fast and now slow, so the two are compared inside each round.
    """
    fleet = load.fleet
    found = {1: [], len(fleet.names): []}
    for _ in range(ROUNDS):
        for count, rates in found.items():
            pids, addresses = fleet.pids()[:count], fleet.replica_addresses()[:count]
            before = cpu(pids)
            report = load.run(addresses, SESSIONS * count, "--turns", TURNS, "--at-once", 8 * count,
                              "--every", 5, "--uploading", 50)
            rates.append(report["turns"] / (cpu(pids) - before))
    one, all_ = found.values()
    ratio = statistics.median(late / early for early, late in zip(one, all_))
    return {count: statistics.median(rates) for count, rates in found.items()}, ratio


def depth(load, uploading, sessions):
    """CPU of a turn, by its number: milliseconds."""
    fleet = load.fleet
    pid = fleet.pids()[0]
    report = load.run(fleet.replica_addresses()[:1], sessions, "--turns", MAX_TURNS + AROUND, "--at-once", 8,
                      "--uploading", uploading, "--meter", pid, *TOOLS)
    turns = [turn for turn in (10, 50, 100, 250, 500) if turn <= MAX_TURNS]
    spent = report["cpu"]
    around = {turn: spent[turn + AROUND - 1] - spent[turn - AROUND - 1] for turn in turns}
    return {turn: 1000 * seconds / (2 * AROUND * sessions) for turn, seconds in around.items()}


def inward(load, uploading):
    """Bytes into the gateway over fifty turns of a session, with a picture of 60 KB each."""
    report = load.run(load.fleet.replica_addresses()[:1], 4, "--turns", 50, "--at-once", 4, "--weight", 60_000,
                      "--uploading", uploading, *TOOLS)
    return report["bytes"] / 4


def main():
    programs, directory = sys.argv[1:]
    world = World(directory)
    wrong = []
    try:
        # Priced, hundreds of these small pictures stay in sight, until no context holds them: how many are sent on
        # would be measured, and not how long the conversation is.
        fleet = Fleet(world, programs, s3=os.environ.get("LOAD_S3", "moto"), retention=RETENTION)
        load = Load(fleet, fleet.keys(4))
        load.run(fleet.replica_addresses(), 30, "--turns", 3, "--uploading", 50)
        rates, ratio = replicas(load)
        print("| replicas | requests a CPU second of the gateways |\n|--:|--:|")
        for count, rate in rates.items():
            print(f"| {count} | {rate:.0f} |")
        print(f"\n{ratio:.2f}× from one to {len(fleet.names)}; claimed: within 15 %\n", flush=True)
        if not 0.85 <= ratio <= 1.15:
            wrong.append("requests for a CPU second depend on the number of replicas")
        uploaded = [depth(load, 100, DEEP) for _ in range(ROUNDS)]
        # Megabytes a turn: a few sessions will do.
        resent = depth(load, 0, 2)
        print("| turn | CPU, uploaded once | CPU, history resent |\n|--:|--:|--:|")
        medians = {turn: statistics.median(one[turn] for one in uploaded) for turn in resent}
        for turn, cost in medians.items():
            print(f"| {turn} | {cost:.2f} ms | {resent[turn]:.2f} ms |")
        first, last = medians[10], medians[max(medians)]
        print(f"\n{last / first:.2f}× from turn 10 to {max(medians)}; claimed: flat, at most 1.25×\n", flush=True)
        if last / first > 1.25:
            wrong.append("a late turn costs more than an early one")
        bytes_resent, bytes_uploaded = inward(load, 0), inward(load, 100)
        print("| over 50 turns | bytes into the gateway |\n|---|--:|")
        print(f"| history resent | {bytes_resent / 1e6:.1f} MB |\n| uploaded once | {bytes_uploaded / 1e6:.1f} MB |")
        print(f"\n{bytes_resent / bytes_uploaded:.1f}×; claimed: at least 10×")
        if bytes_resent / bytes_uploaded < 10:
            wrong.append("uploading once saves too little")
    finally:
        world.close()
    sys.exit("\n".join(f"WRONG: {line}" for line in wrong) or 0)


if __name__ == "__main__":
    main()
