"""The transports of the Python package: what they change, what they leave alone, and how they heal. No network."""
import asyncio, base64, io, json, pathlib, re

import httpx, httpx2
from PIL import Image

import photic, photic.httpx, photic.httpx2

HERE = pathlib.Path(photic.__file__).parent
assert (HERE / "py.typed").exists()


def png(side):
    file = io.BytesIO()
    Image.effect_noise((side, 48), 80).save(file, "png")
    return file.getvalue()


def chat(side=64):
    url = f"data:image/png;base64,{base64.b64encode(png(side)).decode()}"
    return {"model": "gpt-5.4", "messages": [
        {"role": "user", "content": "Look!"},
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": json.dumps({"type": "image", "data": url})}]}


def sides(body):
    found = re.findall(rb"data:image/[a-z]+;base64,([A-Za-z0-9+/=]+)", body)
    return [max(Image.open(io.BytesIO(base64.b64decode(one))).size) for one in found]


def way(library, transport, asynchronous):
    """A function that sends one request through a client of the library."""
    if not asynchronous:
        client = library.Client(transport=transport)
        return lambda *all, **more: client.request(*all, **more)

    async def send(*all, **more):
        async with library.AsyncClient(transport=transport) as client:
            return await client.request(*all, **more)

    return lambda *all, **more: asyncio.run(send(*all, **more))


URL = "https://api.openai.com/v1/chat/completions"


def too_long(most):
    return {"error": {"message": f"At least one of the image dimensions exceed max allowed size: {most} pixels", "type": "invalid_request_error"}}


for library, ours in ((httpx, photic.httpx), (httpx2, photic.httpx2)):
    for asynchronous in (False, True):
        seen = []
        answers = []

        def answer(request):
            seen.append((request.headers, request.content))
            return answers.pop(0) if answers else library.Response(200, json={"ok": True})

        async def answer_later(request):
            return answer(request)

        below = library.MockTransport(answer_later if asynchronous else answer)
        kind = ours.AsyncTransport if asynchronous else ours.Transport
        repaired = []
        send = way(library, kind(below, on_repair=repaired.append), asynchronous)

        # A conversation is repaired, and the length is that of the new body.
        send("POST", URL, json=chat())
        headers, body = seen.pop()
        assert int(headers["content-length"]) == len(body) and b'"image_url"' in body
        assert repaired.pop().fixes[0].did, "the caller hears of it"
        # What needs no repair is sent as it came.
        clean = b'{"model":"gpt-5.4",  "messages":[{"role":"user","content":"Hello"}]}'
        send("POST", URL, content=clean, headers={"content-type": "application/json"})
        assert seen.pop()[1] == clean
        # What is not ours: other paths, methods, types, encodings, and what is signed.
        whole = json.dumps(chat()).encode()
        kinds = [("POST", URL.replace("chat/completions", "embeddings"), {}), ("PUT", URL, {}),
                 ("POST", URL, {"content-type": "text/plain"}), ("POST", URL, {"content-encoding": "gzip"}),
                 ("POST", URL, {"authorization": "AWS4-HMAC-SHA256 Credential=x"})]
        for method, url, extra in kinds:
            send(method, url, content=whole, headers={"content-type": "application/json", **extra})
            assert seen.pop()[1] == whole, (method, url, extra)
        # A signature that does not cover the body stays right when the body changes.
        names = "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host{}, Signature=y"
        for authorization, is_ours in ((names.format(""), True), (names.format(";content-length"), False)):
            signed = {"authorization": authorization, "x-amz-content-sha256": "UNSIGNED-PAYLOAD"}
            send("POST", URL, content=whole, headers={"content-type": "application/json", **signed})
            headers, body = seen.pop()
            assert (body != whole) == is_ours and headers["authorization"] == authorization, authorization
        # A rejection that blames a picture is healed: the picture is made smaller.
        answers[:] = [library.Response(400, json=too_long(2000))]
        large = json.dumps(chat(2500))
        done = send("POST", URL, content=large, headers={"content-type": "application/json"})
        assert done.status_code == 200 and len(seen) == 2, (done.status_code, len(seen))
        assert sides(seen[1][1])[0] <= 2000 < sides(seen[0][1])[0], [sides(body) for _, body in seen]
        seen.clear()
        # At most two more attempts; then the first rejection is the answer.
        answers[:] = [library.Response(400, json=too_long(2000 - 300 * n)) for n in range(6)]
        done = send("POST", URL, content=large, headers={"content-type": "application/json"})
        assert done.status_code == 400 and len(seen) == 3, len(seen)
        assert "2000" in done.text, done.text
        seen.clear()
        answers.clear()
        # Another error is passed on at once, and so is any error to a request without images.
        answers[:] = [library.Response(400, json={"error": {"message": "Unknown parameter: 'temprature'"}})]
        assert send("POST", URL, content=whole, headers={"content-type": "application/json"}).status_code == 400
        answers[:] = [library.Response(400, json=too_long(2000))]
        assert send("POST", URL, content=clean, headers={"content-type": "application/json"}).status_code == 400
        assert len(seen) == 2
        seen.clear()
        # Errors of the connection are those of the transport below.

        def fails(request):
            raise library.ConnectError("no")

        async def fails_later(request):
            raise library.ConnectError("no")

        send = way(library, kind(library.MockTransport(fails_later if asynchronous else fails)), asynchronous)
        try:
            send("POST", URL, content=whole, headers={"content-type": "application/json"})
            raise SystemExit("no error")
        except library.ConnectError:
            pass


class Stream(httpx2.SyncByteStream):
    """A reply that must not be read ahead."""

    taken = 0

    def __iter__(self):
        for n in range(3):
            Stream.taken += 1
            yield f"data: {n}\n\n".encode()


transport = photic.httpx2.Transport(httpx2.MockTransport(lambda request: httpx2.Response(200, stream=Stream())))
with httpx2.Client(transport=transport).stream("POST", URL, json=chat()) as reply:
    assert Stream.taken == 0, "the reply was read ahead"
    pieces = reply.iter_raw()
    assert next(pieces) == b"data: 0\n\n" and Stream.taken == 1
print("python: transports of httpx and httpx2, synchronous and asynchronous, repair, heal and leave alone")

# Views of pictures in memory.
import numpy

picture = Image.effect_noise((300, 200), 60).convert("RGB")
views = [photic.view(picture), photic.view(numpy.asarray(picture)), photic.view(numpy.asarray(picture)[::1, ::-1][:, ::-1])]
file = io.BytesIO()
picture.save(file, "png")
views.append(photic.view(file.getvalue()))
views.append(photic.view(memoryview(file.getvalue())))
shown = [numpy.asarray(Image.open(io.BytesIO(one.encoded)).convert("RGB")) for one in views]
assert all((one == numpy.asarray(picture)).all() for one in shown), "views of the same picture differ"
assert views[0].to_source(10, 10) == (10.0, 10.0) and views[0].size == (300, 200)
photic.view(picture.convert("P")), photic.view(picture.convert("L")), photic.view(picture.convert("RGBA"))
for source, words in ((numpy.zeros((4, 4), "float32"), "uint8"), (3, "pass a path"), (b"words", "")):
    try:
        photic.view(source)
        raise SystemExit(f"{source!r} was viewed")
    except (TypeError, photic.PhoticError) as error:
        assert words in str(error), error
for call, words in ((lambda: photic.check("text"), "encode"), (lambda: photic.repair({}), "json.dumps"),
                    (lambda: photic.check(b"{}", wire="openai"), "openai-chat"), (lambda: photic.lower(b"no"), "JSON")):
    try:
        call()
        raise SystemExit("no error")
    except (TypeError, photic.PhoticError) as error:
        assert words in str(error), error
print("python: views of files, PIL images and arrays; errors say what to do")
