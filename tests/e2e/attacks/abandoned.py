#!/usr/bin/env python3
"""abandoned.py PHOTIC [--requests N] [--at-once N] [--limit MIB]: clients that ask for pixel work and leave in the middle
of it, against a gateway under a hard limit of memory.

The limit is that of the chart and the compose file (1 GiB), the settings are theirs: none, so that the gateway finds
out its budget from the limit. Fails if the gateway dies, if it holds more than its budget and 64 MB at any time, if
a client that stays is not served meanwhile, or if it works for more than two seconds of processor time after the last
client left.

The limit is a control group of memory, version 1 or 2, for which one has to be root. Where there is none, the budget
is set to what it would be, only the peak is compared, and that is said.
"""
import argparse, base64, contextlib, os, pathlib, random, re, sys, threading, time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import harness  # noqa: E402
from heavy import BESIDE, body_of, cpu, sent  # noqa: E402

KINDS = ["png", "interlaced png", "gif", "gif that keeps", "jpeg", "progressive jpeg", "tiff", "bmp"]


def metric(photic, name):
    page = photic.ask("GET", "/metrics", timeout=30)[2].decode()
    return float(re.search(rf"^{name} (\S+)$", page, re.M)[1])


def abandon(photic, requests, at_once, seed=1):
    """Sends requests and leaves; how many were sent, and how many of those who stayed were served."""
    bodies = {(kind, number): body_of(kind, 2, extra=number) for kind in KINDS for number in range(8)}
    lock, numbers, stayed = threading.Lock(), iter(range(requests)), []

    def client(seed):
        chance = random.Random(seed)
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            body = bodies[KINDS[number % len(KINDS)], chance.randrange(8)]
            with contextlib.suppress(OSError):
                # Keys of many callers; no cache helps, since each picture ends in bytes of its own.
                unique = body.replace(b'"max_tokens": 10', b'"max_tokens": %d' % (10 + number))
                connection = sent(photic, "/v1/messages", unique, f"sk-{number % 16}")
                time.sleep(chance.uniform(0.02, 0.4))
                connection.close()

    def staying():
        small = harness.chat_body(harness.png(600, 400))
        while threads[0].is_alive():
            with contextlib.suppress(OSError):
                stayed.append(photic.chat(small, {"authorization": "Bearer sk-stays"}, timeout=60)[0])
            time.sleep(0.2)
    threads = [threading.Thread(target=client, args=(seed * 1000 + number,), daemon=True) for number in range(at_once)]
    for thread in threads:
        thread.start()
    guest = threading.Thread(target=staying, daemon=True)
    guest.start()
    for thread in threads:
        thread.join()
    return guest, stayed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("photic")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--limit", type=int, default=1024)
    wanted = parser.parse_args()
    harness.PHOTIC = str(pathlib.Path(wanted.photic).resolve())
    failed = []
    with harness.group(wanted.limit) as (path, wrap), harness.Upstream() as upstream:
        settings = "" if path else f"[limits]\nmemory_mib = {(wanted.limit - 192) * 7 // 8}\n"
        with harness.serving(upstream, settings, wrap=wrap) as photic:
            budget = metric(photic, "photic_memory_budget_bytes") / 1e6
            begun = time.monotonic()
            guest, stayed = abandon(photic, wanted.requests, wanted.at_once)
            ended, before = time.monotonic(), cpu(photic) if photic.is_alive() else 0
            if not photic.is_alive():
                print("it died:", photic.said()[-500:])
                return 1
            while photic.is_alive() and metric(photic, "photic_pixel_jobs") and time.monotonic() - ended < 120:
                time.sleep(0.02)
            rested, used = time.monotonic() - ended, cpu(photic) - before
            guest.join(60)
            peak = photic.peak() * 1.048576
            served = sum(status == 200 for status in stayed)
            print(f"{wanted.requests} requests, {wanted.at_once} at once, closed in the middle: {ended - begun:.1f} s")
            print(f"budget {budget:.0f} MB, peak {peak:.0f} MB, allowed {budget + BESIDE:.0f} MB, "
                  f"limit {wanted.limit * 1.048576:.0f} MB" + ("" if path else " (not enforced)"))
            print(f"work ended {rested:.2f} s after the last client left, and took {used:.2f} s of processor time")
            print(f"of those who stayed {served} of {len(stayed)} were served")
            if peak > budget + BESIDE:
                failed.append("it held more than its budget")
            if used > 2:
                failed.append("it worked for clients that had left")
            if not served:
                failed.append("nobody who stayed was served")
            if not photic.is_well():
                failed.append("it does not answer")
    for what in failed:
        print("abandoned:", what)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
