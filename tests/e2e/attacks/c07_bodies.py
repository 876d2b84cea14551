"""Bodies past their bound: what arrives is counted, whatever was declared, and nobody shuts out others."""
import contextlib, json, random, socket, time

from bombs import BOMBS
from heavy import at_once, connected, gateway, head, over
from harness import Photic, Upstream, attack, chat_body, harm_if, until
from waiting import LONG

BUDGET = 256
PIECE = b"x" * (1 << 20)
PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses",
         "gemini": "/v1beta/models/m:generateContent", "ollama": "/api/chat", "tokens": "/v1/messages/count_tokens"}


def status_of(connection):
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(connection.recv(65536).split()[1])
    return None


def chunked(wire, count=8, mib=40, keys=1, ended=True):
    """Chunked bodies at once, none of them past its own bound."""
    with Upstream() as upstream, gateway(upstream, BUDGET) as photic:
        begin = b'{"model":"m","messages":[{"role":"user","content":"'

        def send(number):
            with connected(photic, 30) as connection:
                connection.sendall(head(PATHS[wire], None, f"sk-{number % keys}"))
                connection.sendall(b"%x\r\n%s\r\n" % (len(begin), begin))
                for _ in range(mib):
                    connection.sendall(b"%x\r\n%s\r\n" % (len(PIECE), PIECE))
                if ended:
                    connection.sendall(b"5\r\n\"}]}\n\r\n0\r\n\r\n")
                else:
                    time.sleep(1)
                    return 0
                return status_of(connection)
        at_once([lambda number=number: send(number) for number in range(count)])
        over(photic, BUDGET)
        harm_if(not photic.is_well(), "it does not answer")
        until(lambda: photic.chat(chat_body())[0] == 200, "others are served afterwards")


attack(7, "eight chunked bodies of 40 MiB", wire="messages")(chunked)
attack(7, "chunked bodies of many callers", wire="chat", keys=8)(chunked)
attack(7, "chunked bodies that never end", wire="responses", ended=False)(chunked)


def promised(wire, count=40, path=None, keys=1):
    """Connections that declare 64 MiB and send one byte; somebody else asks."""
    with Upstream() as upstream, gateway(upstream, 2048) as photic, contextlib.ExitStack() as open_ones:
        for number in range(count):
            connection = open_ones.enter_context(connected(photic))
            connection.sendall(head(path or PATHS[wire], 64 << 20, f"sk-bad-{number % keys}") + b"{")
        time.sleep(0.5)
        status, _, said = photic.chat(chat_body(), {"authorization": "Bearer sk-good"})
        harm_if(status != 200, f"others are shut out: {status} {said[:200]}")


for wire in PATHS:
    attack(7, f"forty connections that declare 64 MiB and send a byte ({wire})", wire=wire)(promised)
attack(7, "forty uploads of files that declare 64 MiB and send a byte", wire="chat", path="/v1/files")(promised)


def dripping(wire, declared):
    """A body of a byte every 200 ms: no pause is long, and it never ends."""
    settings = "[timeouts]\nidle_s = 2\n"
    with Upstream() as upstream, gateway(upstream, BUDGET, settings) as photic, connected(photic) as connection:
        connection.sendall(head(PATHS[wire], declared))
        piece = b"x" if declared else b"1\r\nx\r\n"
        connection.settimeout(0.2)
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            try:
                connection.sendall(piece)
                if connection.recv(1) in (b"", b"H"):
                    return
            except TimeoutError:
                continue
            except OSError:
                return
        harm_if(True, "a body of five bytes a second is waited for without an end")


attack(7, "a chunked body that drips", wire="chat", declared=None)(dripping)
attack(7, "a declared body that drips", wire="messages", declared=1 << 20)(dripping)


def bombs(coding, noise):
    """Sixteen bodies at once that would be a gigabyte together."""
    body = BOMBS[coding](random.Random(7).randbytes(noise))
    with Upstream() as upstream, gateway(upstream, BUDGET) as photic:
        def send(number):
            with connected(photic, LONG) as connection:
                more = [f"content-encoding: {coding}"]
                connection.sendall(head(PATHS["messages"], len(body), f"sk-{number % 4}", more) + body)
                return status_of(connection)
        told = at_once([lambda number=number: send(number) for number in range(16)])
        # Buffers of refused bodies stay with the allocator for half a second, while others are filled.
        over(photic, BUDGET, slack=64)
        # Too large, or no room for it now.
        harm_if(set(told) - {413, 503} or 413 not in told, f"they are answered with {told}")
        harm_if(upstream.requests, "some were sent on")
        until(lambda: photic.chat(chat_body())[0] == 200, "others are served afterwards")


for coding in BOMBS:
    attack(7, f"sixteen bombs in {coding}", coding=coding, noise=0)(bombs)
    attack(7, f"sixteen bombs in {coding} that are no denser than conversations", coding=coding, noise=200 << 10)(bombs)


@attack(7, "one caller's bodies take the place of another's")
def shut_out():
    with Upstream() as upstream, gateway(upstream, 128) as photic, contextlib.ExitStack() as open_ones:
        for number in range(16):
            connection = open_ones.enter_context(connected(photic, 1))
            connection.sendall(head(PATHS["chat"], 32 << 20, "sk-greedy"))
            with contextlib.suppress(OSError):
                for _ in range(20):
                    connection.sendall(PIECE)
        status, _, said = photic.chat(chat_body(text="x" * (4 << 20)), {"authorization": "Bearer sk-modest"})
        harm_if(status != 200, f"another caller is shut out: {status} {said[:200]}")
