"""Replies without an end: a provider that never finishes a line, a frame or an answer."""
import contextlib, http.client, json, socket, struct, threading

from heavy import at_once, limits, over
from harness import Harm, Photic, attack, harm_if

BUDGET = 256
PIECE = b"x" * (1 << 20)


class Endless:
    """An upstream on loopback that answers every request with a head and whatever `write(send)` sends."""

    def __init__(self, media_type, write, status=200):
        self.media_type, self.write, self.status = media_type, write, status
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.answer, args=(self.socket.accept()[0],), daemon=True).start()

    def answer(self, connection):
        with connection, contextlib.suppress(OSError):
            got = b""
            while b"\r\n\r\n" not in got:
                got += connection.recv(65536)
            head, rest = got.split(b"\r\n\r\n", 1)
            length = int(head.lower().split(b"content-length:")[1].split()[0])
            while len(rest) < length:
                rest += connection.recv(65536)
            connection.sendall(f"HTTP/1.1 {self.status} OK\r\ncontent-type: {self.media_type}\r\n"
                               "connection: close\r\n\r\n".encode())
            self.write(connection.sendall)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def repeated(begin, piece, times, end=b""):
    def write(send):
        send(begin)
        for _ in range(times):
            send(piece)
        send(end)
    return write


def ask(photic, path, body, key="sk-a", read=None):
    """Sends a request and reads its reply to the end, keeping only the last of it."""
    connection = http.client.HTTPConnection("127.0.0.1", photic.port, timeout=60)
    try:
        connection.request("POST", path, json.dumps(body), {
            "content-type": "application/json", "authorization": f"Bearer {key}", "anthropic-version": "2023-06-01"})
        reply, last = connection.getresponse(), b""
        while piece := reply.read1(1 << 20):
            last = (last + piece)[-(1 << 16):]
        return reply.status, last
    finally:
        connection.close()


CHAT = ("/v1/chat/completions", {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]})
MESSAGES = ("/v1/messages", {"model": "m", "stream": True, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]})
RESPONSES = ("/v1/responses", {"model": "m", "stream": True, "input": "hi"})


def endless(wire, caller, media_type, write, requests=1, status=200):
    path, body = caller
    with Endless(media_type, write, status) as upstream:
        settings = f"{limits(BUDGET)}\n[[upstream]]\nurl = 'http://127.0.0.1:{upstream.port}'\nwire = '{wire}'\nmodels = ['*']\n"
        with Photic(settings) as photic:
            got = at_once([lambda: ask(photic, path, body)] * requests)
            over(photic, BUDGET)
            harm_if(not photic.is_well(), "it does not answer")
            harm_if(all(one is None for one in got), "nobody was told anything")


SSE, LINES, FRAMES, JSON = ("text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream",
                            "application/json")
attack(8, "a line of Chat without an end", wire="openai-chat", caller=MESSAGES, media_type=SSE,
       write=repeated(b"data: ", PIECE, 500))(endless)
attack(8, "a line of Messages without an end", wire="anthropic", caller=CHAT, media_type=SSE,
       write=repeated(b"data: ", PIECE, 500))(endless)
attack(8, "a line of Responses without an end", wire="openai-responses", caller=CHAT, media_type=SSE,
       write=repeated(b"data: ", PIECE, 500))(endless)
attack(8, "a line of Gemini without an end", wire="gemini", caller=CHAT, media_type=SSE,
       write=repeated(b"data: ", PIECE, 500))(endless)
attack(8, "a line of Ollama without an end", wire="ollama", caller=CHAT, media_type=LINES,
       write=repeated(b"{", PIECE, 500))(endless)
attack(8, "an event of lines without an end", wire="openai-chat", caller=MESSAGES, media_type=SSE,
       write=repeated(b"", b"data: " + PIECE + b"\n", 500))(endless)
attack(8, "frames that are none", wire="bedrock-converse", caller=CHAT, media_type=FRAMES,
       write=repeated(b"", PIECE, 500))(endless)
attack(8, "frames of 60 MiB, eight at once", wire="bedrock-converse", caller=CHAT, media_type=FRAMES, requests=8,
       write=repeated(struct.pack(">II", 60 << 20, 16), PIECE, 59))(endless)
attack(8, "lines of 60 MiB, eight at once", wire="openai-chat", caller=MESSAGES, media_type=SSE, requests=8,
       write=repeated(b"data: ", PIECE, 59))(endless)
attack(8, "whole replies of 60 MiB, eight at once", wire="openai-chat", requests=8, media_type=JSON,
       caller=(MESSAGES[0], {**MESSAGES[1], "stream": False}), write=repeated(b'{"choices":"', PIECE, 60, b'"}'))(endless)
DELTA = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % (b"y" * (256 << 10))
attack(8, "words without an end, told again at the end", wire="openai-chat", caller=RESPONSES, media_type=SSE,
       write=repeated(b"", DELTA, 2000))(endless)
CALL = b'data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\\"a\\":\\""}}]}}]}\n\n'
MORE = b'data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"%s"}}]}}]}\n\n' % (b"y" * (256 << 10))
attack(8, "arguments of a call without an end", wire="openai-chat", media_type=SSE, write=repeated(CALL, MORE, 2000),
       caller=("/v1beta/models/m:streamGenerateContent?alt=sse",
               {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}))(endless)
