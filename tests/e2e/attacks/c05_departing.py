"""Clients that leave: what they asked for is made no further, and what it held is free."""
import struct, time

from heavy import body_of, connected, cpu, gateway, head, over, rests, sent, shared
from harness import Upstream, attack, harm_if, until

BUDGET = 512
# Loose: half of it is how long it takes to see that a process rests. The bound of the design is one second.
REST = 2.0


def reset(connection):
    """Closes at once, without waiting for what is under way."""
    import socket
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def left(kind, delay, count=1, requests=10, path="/v1/messages", politely=True):
    """Requests that take a second of pixel work each; their clients leave after `delay`."""
    upstream, photic = shared("departing", lambda upstream: gateway(upstream, BUDGET))
    bodies = [body_of(kind, count, extra=hash((kind, delay, count, number)) % 10**6) for number in range(requests)]
    until(lambda: rests(photic, 1) is not None, "the gateway rests before")
    connections = [sent(photic, path, body) for body in bodies]
    time.sleep(delay)
    for connection in connections:
        connection.close() if politely else reset(connection)
    rested = rests(photic, REST)
    if rested is None:
        alive = photic.is_alive()
        photic.close()
        harm_if(not alive, "it died")
        harm_if(True, f"more than {REST:.0f} s of processor time were spent on clients that had left")
    over(photic, BUDGET)
    harm_if(not photic.is_well(), "it does not answer")


for kind, count, requests in [("png", 12, 5), ("interlaced png", 6, 5), ("gif that keeps", 1, 10), ("progressive jpeg", 20, 5)]:
    for delay in [0.03, 0.3]:
        attack(5, f"{requests} requests of {count} ({kind}) whose clients leave after {delay * 1000:.0f} ms",
               kind=kind, delay=delay, count=count, requests=requests)(left)
attack(5, "connections that are reset", kind="png", delay=0.1, count=12, requests=5, politely=False)(left)
attack(5, "questions for the number of tokens", kind="png", delay=0.2, count=12, requests=5,
       path="/v1/messages/count_tokens")(left)
attack(5, "sixty at once", kind="png", delay=0.2, count=3, requests=60)(left)


def memory(kind, requests):
    """The same, held against memory: work of clients that left must not be work that nobody counts."""
    budget = 256
    with Upstream() as upstream, gateway(upstream, budget) as photic:
        for number in range(requests):
            connection = sent(photic, "/v1/messages", body_of(kind, extra=number))
            time.sleep(0.03)
            connection.close()
        rests(photic, 3)
        over(photic, budget)


attack(5, "memory of those who left (gif)", kind="gif that keeps", requests=10)(memory)
attack(5, "memory of those who left (interlaced png)", kind="interlaced png", requests=10)(memory)


@attack(5, "clients that leave while their request is made again after a rejection")
def healing():
    # The upstream turns down what was made, so that it is made again.
    told = {"type": "error", "error": {"type": "invalid_request_error", "message":
            "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"}}
    seen = []

    def answer(request):
        seen.append(request)
        return 400, {}, told
    with Upstream(answer) as upstream, gateway(upstream, BUDGET) as photic:
        connections = [sent(photic, "/v1/messages", body_of("png", 12, extra=number)) for number in range(4)]
        until(lambda: seen, "an upstream is asked")
        for connection in connections:
            connection.close()
        harm_if(rests(photic, REST) is None, "it goes on making pictures for clients that left")
