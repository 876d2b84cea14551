"""`photic extproc` in a real Envoy: PHOTIC WORK."""
import base64, concurrent.futures, gzip, json, pathlib, socket, subprocess, sys

import grpc

import numbers_of_envoy
from parts import Program, Upstream, documented, envoy, is_open, processor, said, send
from waiting import until

photic, work = sys.argv[1], pathlib.Path(sys.argv[2])
MODES = ["documented", "BUFFERED", "BUFFERED_PARTIAL", "STREAMED", "FULL_DUPLEX_STREAMED"]
passed = 0


def holds(condition, what):
    global passed
    if not condition:
        for log in work.glob("*.log"):
            print(f"== {log.name}", log.read_text(errors="replace")[-3000:], sep="\n", file=sys.stderr)
        sys.exit(f"does not hold: {what}")
    passed += 1


def conversation(seed, padding=0):
    """A chart in a tool result, as an SDK writes it: a data URL in JSON, which is text to the provider."""
    picture = base64.b64encode((work / f"{seed}.png").read_bytes()).decode()
    result = json.dumps({"type": "image", "data": picture, "mimeType": "image/png"})
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return json.dumps({"model": "gpt-5.4", "messages": [
        {"role": "user", "content": "What is in the picture?" + " " * padding},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
        {"role": "user", "content": "Please describe it."}]}).encode()


def mode_of(name):
    return None if name == "documented" else name


words = {}
for seed in range(1, 9):
    done = subprocess.run([photic, "mock", "--chart", str(seed), "-o", work / f"{seed}.png"],
                          check=True, capture_output=True, text=True)
    words[seed] = done.stdout.strip()
SOUND = json.dumps({"model": "gpt-5.4", "messages": [{"role": "user", "content": "Hello"}]}).encode()
LARGE = SOUND.replace(b"Hello", b"Hello " * 500_000)
programs = []


def started(pair):
    programs.append(pair[0])
    return pair


def main():
    print(f"{numbers_of_envoy.check()} numbers of messages are those of Envoy")
    mock = Program([photic, "mock"], work / "mock.url")
    programs.append(mock)
    until(lambda: mock.said().strip(), "the provider's address")
    mock_port = int(mock.said().strip().rsplit(":", 1)[1])
    keeper = Upstream()
    # The page names what is set here, too.
    page = documented()["static_resources"]["listeners"][0]
    holds(page["per_connection_buffer_limit_bytes"] == 64 << 20, "the buffer of the page is photic's default")

    _, port = started(processor(photic, work))
    status, _, reply = send(mock_port, conversation(1))
    holds(status != 200 or words[1] not in said(reply), "without photic the model is blind")
    for name in MODES:
        sees(name, port, mock_port, keeper)
        print(f"{name}: ok")
    limits(keeper)
    away(keeper)
    leaving(keeper, mock_port)
    at_once(port, mock_port)
    foreign(port)
    print(f"{passed} checks passed")


def sees(name, port, mock_port, keeper):
    _, models = started(envoy(work, f"models-{name}", port, mock_port, mode_of(name)))
    _, kept = started(envoy(work, f"kept-{name}", port, keeper.port, mode_of(name)))
    for what, chunks in [("in one piece", None), ("chunked", 97)]:
        status, headers, reply = send(models, conversation(2), chunks=chunks)
        holds(status == 200 and words[2] in said(reply), f"{name}: a chart {what} is named: {status} {reply[:300]}")
        holds(int(headers.get("x-photic-fixes", 0)) >= 1, f"{name}: the reply says so: {headers}")
        holds("hoisted" in headers.get("x-photic-fixed", "") or "rewrote" in headers.get("x-photic-fixed", ""),
              f"{name}: and how: {headers}")
    status, _, reply = send(models, conversation(3, padding=3 << 20))
    holds(status == 200 and words[3] in said(reply), f"{name}: a chart in 3 MiB is named: {status} {reply[:300]}")

    streamed = conversation(4).replace(b'{"model"', b'{"stream": true, "model"', 1)
    status, headers, reply = send(models, streamed)
    text = b"".join(line for line in reply.splitlines() if line.startswith(b"data: ")).decode()
    holds(status == 200 and headers["content-type"].startswith("text/event-stream"), f"{name}: events pass")
    said_all = "".join(choice["delta"].get("content") or "" for line in reply.decode().splitlines()
                       if line.startswith("data: {") for choice in json.loads(line[6:]).get("choices", []))
    holds(words[4] in said_all, f"{name}: a streamed answer names the chart: {text[:300]}")

    # What needs no repair arrives byte for byte.
    for body, chunks in [(SOUND, None), (SOUND, 7), (LARGE, None), (LARGE, 64 << 10)]:
        status, headers, reply = send(kept, body, chunks=chunks)
        holds(status == 200 and reply == body, f"{name}: {len(body)} bytes pass: {status} {headers}")
        holds(headers.get("x-photic-fixes") == "0", f"{name}: nothing was repaired: {headers}")
    upload = bytes(range(256)) * 4096
    status, headers, reply = send(kept, upload, path="/v1/uploads/u/parts", chunks=64 << 10)
    holds(status == 200 and reply == upload, f"{name}: an upload passes: {status}")
    holds("x-photic-fixes" not in headers, f"{name}: an upload is not read: {headers}")
    status, headers, reply = send(kept, b"words")
    holds(reply == b"words" and headers["x-photic-passed"] == "unreadable_body", f"{name}: no JSON passes: {headers}")
    status, headers, reply = send(kept, conversation(5), x_photic_off="1")
    holds(reply == conversation(5) and headers["x-photic-passed"] == "off", f"{name}: off is off: {headers}")
    holds("x-photic-off" not in {key.lower() for key in keeper.got[-1][1]}, f"{name}: the provider does not see it")

    packed = gzip.compress(conversation(6))
    status, headers, reply = send(kept, packed, content_encoding="gzip")
    if name == "STREAMED":
        holds(reply == packed and headers["x-photic-passed"] == "unknown_encoding", f"{name}: gzip passes: {headers}")
    else:
        holds(json.loads(reply)["messages"] and int(headers["x-photic-fixes"]) >= 1, f"{name}: gzip is read: {headers}")
        holds("content-encoding" not in {key.lower() for key in keeper.got[-1][1]}, f"{name}: its header is gone")
    if name in ("documented", "BUFFERED", "BUFFERED_PARTIAL"):
        _, headers, body = keeper.got[-1]
        length = {key.lower(): value for key, value in headers.items()}.get("content-length")
        holds(length is None or int(length) == len(body), f"{name}: the length is that of the new body")


def limits(keeper):
    body = LARGE  # 3 MB
    for what in ["pass", "refuse"]:
        _, port = started(processor(photic, work, "--max-body", "1", "--too-large", what, name=f"small-{what}"))
        for name in MODES:
            _, kept = started(envoy(work, f"small-{what}-{name}", port, keeper.port, mode_of(name)))
            for chunks in [None, 64 << 10]:
                status, headers, reply = send(kept, body, chunks=chunks)
                if what == "pass":
                    holds(status == 200 and reply == body, f"{name}: a large body passes: {status} {headers}")
                    holds(headers["x-photic-passed"] == "too_large", f"{name}: with the reason: {headers}")
                else:
                    holds(status == 413 and b"limit of photic" in reply, f"{name}: 413: {status} {reply[:200]}")
                    holds("message" in json.loads(reply)["error"], f"{name}: in the form of the API")
    print("limits: ok")


def away(keeper):
    """Without a processor, requests pass unrepaired, or fail if the configuration says so."""
    program, port = processor(photic, work, name="away")
    _, kept = started(envoy(work, "away-allow", port, keeper.port))
    _, strict = started(envoy(work, "away-strict", port, keeper.port, failure_mode_allow=False))
    for one in (kept, strict):
        holds(send(one, SOUND)[0] == 200, "there is a processor")
    program.stop()
    holds(program.process.returncode == 0, f"it stops when it is asked to: {program.process.returncode}")
    status, headers, reply = send(kept, conversation(7))
    holds(status == 200 and reply == conversation(7), f"without photic, a request passes: {status}")
    holds("x-photic-fixes" not in headers, "and no header promises anything")
    holds(send(strict, SOUND)[0] >= 500, "or fails, if the configuration says so")
    again = Program([photic, "extproc", "--listen", f"127.0.0.1:{port}"], work / "again.log")
    programs.append(again)
    until(lambda: is_open(port), "photic extproc, again")
    until(lambda: send(kept, conversation(7))[1].get("x-photic-fixes", "0") != "0", "requests are repaired again")
    print("away: ok")


def leaving(keeper, mock_port):
    """Clients that leave in the middle give their memory back."""
    _, port = started(processor(photic, work, "--memory", "8", name="leaving"))
    for name in ["documented", "FULL_DUPLEX_STREAMED", "STREAMED"]:
        _, models = started(envoy(work, f"leaving-{name}", port, mock_port, mode_of(name)))
        for _ in range(12):
            with socket.create_connection(("127.0.0.1", models)) as one:
                one.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\ncontent-length: 9000000\r\n\r\n")
                one.sendall(b"x" * 3_000_000)

        def is_repaired():
            status, headers, reply = send(models, conversation(8, padding=2 << 20))
            return status == 200 and headers.get("x-photic-passed") is None and words[8] in said(reply)

        until(is_repaired, f"{name}: memory comes back")
        holds(True, name)
    print("leaving: ok")


def at_once(port, mock_port):
    """Many requests at once get their own answers."""
    for name in MODES:
        _, models = started(envoy(work, f"many-{name}", port, mock_port, mode_of(name)))

        def one(number):
            seed = number % 8 + 1
            status, _, reply = send(models, conversation(seed, padding=number * 1000), chunks=[None, 4096][number % 2])
            return status == 200 and words[seed] in said(reply)

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            holds(all(pool.map(one, range(64))), f"{name}: 64 requests, 16 at once")
    print("at once: ok")


def foreign(port):
    """Another gRPC client: health checks, unknown methods, and streams that make no sense."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        raw = {"request_serializer": bytes, "response_deserializer": bytes}
        health = channel.unary_unary("/grpc.health.v1.Health/Check", **raw)
        holds(health(b"", timeout=60) == b"\x08\x01", "it is healthy")
        process = channel.stream_stream("/envoy.service.ext_proc.v3.ExternalProcessor/Process", **raw)
        holds(list(process(iter([]), timeout=60)) == [], "a stream without messages ends")
        holds(list(process(iter([b""]), timeout=60)) == [], "a message of an unknown kind ends the stream")
        for method, messages, code in [
            ("/envoy.service.ext_proc.v3.ExternalProcessor/Process", [b"\xff\xff"], grpc.StatusCode.INVALID_ARGUMENT),
            ("/envoy.service.auth.v3.Authorization/Check", [b""], grpc.StatusCode.UNIMPLEMENTED),
        ]:
            try:
                list(channel.stream_stream(method, **raw)(iter(messages), timeout=60))
                holds(False, f"{method}: no error")
            except grpc.RpcError as error:
                holds(error.code() == code, f"{method}: {error.code()}")
        holds(health(b"", timeout=60) == b"\x08\x01", "it is healthy after all")
    print("foreign: ok")


try:
    main()
finally:
    for program in programs:
        program.stop()
