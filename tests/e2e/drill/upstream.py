"""An upstream that misbehaves: a process before `photic mock` that passes requests on, or does what the state file says.

    upstream.py PORT MOCK_PORT STATE JOURNAL SEED

STATE holds {"faults": SHARE}: the share of requests that something is done to. JOURNAL gets a line of JSON for every
request: the key headers that arrived, and what was done.
"""
import asyncio, json, pathlib, random, socket, struct, sys

port, mock, state, journal, seed = sys.argv[1:]
chance = random.Random(int(seed))
FAULTS = ["slow", "rate_limit", "rate_limit_pause", "error_500", "error_503", "reset", "cut", "garbage", "page", "empty"]
KEYS = ("authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie")
# Longer than `answer_s` of the upstream in the settings of the drill.
SLOW = 6


async def read(reader):
    """Reads a request of a declared length. Gives its first line, its headers and its bytes."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return first, headers, body


async def passed_on(first, headers, body):
    """The mock's reply to a request, as bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(mock))
    kept = {name: value for name, value in headers.items() if name not in ("connection", "transfer-encoding")}
    lines = [first, *(f"{name}: {value}" for name, value in kept.items()), "connection: close", "", ""]
    writer.write("\r\n".join(lines).encode("latin-1") + body)
    reply = await reader.read()
    writer.close()
    return reply


def answer(status, body=b'{"error":{"message":"not now","type":"api_error"}}', kind="application/json", more=""):
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{more}content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    return head.encode() + body


async def converse(reader, writer):
    try:
        first, headers, body = await read(reader)
        share = json.loads(pathlib.Path(state).read_text())["faults"]
        fault = chance.choice(FAULTS) if chance.random() < share else None
        with open(journal, "a") as file:
            file.write(json.dumps({"keys": {k: v for k, v in headers.items() if k in KEYS}, "fault": fault}) + "\n")
        match fault:
            case "slow":
                await asyncio.sleep(SLOW)
                reply = await passed_on(first, headers, body)
            case "rate_limit":
                reply = answer("429 Too Many Requests")
            case "rate_limit_pause":
                reply = answer("429 Too Many Requests", more="retry-after: 1\r\n")
            case "error_500":
                reply = answer("500 Internal Server Error")
            case "error_503":
                reply = answer("503 Service Unavailable", b"<html>busy</html>", "text/html")
            case "reset":
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            case "cut":
                reply = await passed_on(first, headers, body)
                # Of a stream nothing may come: what was passed on cannot be taken back.
                end = reply.index(b"\r\n\r\n") + 4 if b"text/event-stream" in reply[:1000] else -20
                reply = reply[:end]
            case "garbage":
                reply = bytes(chance.randrange(256) for _ in range(200)) + b"\r\n\r\n"
            case "page":
                reply = answer("200 OK", b"<html>Sign in</html>", "text/html")
            case "empty":
                reply = answer("200 OK", b"")
            case _:
                reply = await passed_on(first, headers, body)
        writer.write(reply)
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(converse, "127.0.0.1", int(port), limit=1 << 24)
    print("ready", flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
