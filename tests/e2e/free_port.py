#!/usr/bin/env python3
"""A port on loopback that nobody listens on: printed, or `from free_port import free_port`.

It is not one that the kernel hands to callers (32768 and above): a server that is stopped and started again must find
its port as it left it, however many connections other suites make meanwhile.
"""
import random, socket

# Of a generator of its own: programs that seed theirs would all try the same ports.
CHANCE = random.SystemRandom()


def free_port():
    while True:
        port = CHANCE.randrange(12_000, 32_000)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


if __name__ == "__main__":
    print(free_port())
