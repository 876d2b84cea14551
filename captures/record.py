#!/usr/bin/env python3
"""A pretend model provider on loopback that records what clients send it.

Speaks three wires, plain and streamed (SSE): chat/completions, responses and
messages, each with or without /v1. A request without tool results is answered
with calls to the offered tools; a request with tool results is written to
OUT/<name>.json, byte for byte as received, and answered "done".

The path may say what to record as and how many calls to make:
    /<name>/<calls>/v1/chat/completions
Without that prefix --name and --calls apply, and a model name that contains
`parallel3` asks for three calls, so it also works behind a proxy.
A second body with results of the same name replaces the first (follow-ups).
"""
import argparse, json, pathlib, re, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATH = re.compile(r"^(?:/(?P<name>[\w.-]+)/(?P<calls>\d+))?(?:/v1)?/(?P<wire>chat/completions|responses|messages)$")
USAGE = {"input_tokens": 10, "output_tokens": 5}
CHAT_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
RESPONSES_USAGE = {
    **USAGE,
    "total_tokens": 15,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def has_results(wire, body):
    if wire == "chat/completions":
        return any(m.get("role") == "tool" for m in body["messages"])
    if wire == "responses":
        items = body["input"] if isinstance(body["input"], list) else []
        return any(str(i.get("type")).endswith("_call_output") for i in items)
    blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
    return any(b.get("type") == "tool_result" for b in blocks)


def plan_calls(wire, body, count):
    """(id, tool name, arguments) per call; ids and arguments depend on nothing but the index."""
    tools = []
    for t in body.get("tools", []):
        t = t.get("function", t)
        if "name" in t:
            tools.append((t["name"], t.get("parameters") or t.get("input_schema") or {}))
    if not tools:
        return []
    prefix = "toolu_" if wire == "messages" else "call_"
    calls = []
    for i in range(1, count + 1):
        name, schema = tools[(i - 1) % len(tools)]
        args = {}
        for key, prop in schema.get("properties", {}).items():
            args[key] = i if prop.get("type") in ("integer", "number") else f"item {i}"
        calls.append((f"{prefix}{i}", name, args))
    return calls


# Each wire: (whole answer, list of SSE events). An event is (event name or None, data).

def chat(body, calls):
    def function(c):
        return {"name": c[1], "arguments": json.dumps(c[2])}

    message = {"role": "assistant", "content": None if calls else "done", "refusal": None}
    if calls:
        message["tool_calls"] = [{"id": c[0], "type": "function", "function": function(c)} for c in calls]
    finish = "tool_calls" if calls else "stop"
    base = {"id": "chatcmpl_1", "created": 1, "model": body["model"]}
    whole = {**base, "object": "chat.completion", "usage": CHAT_USAGE,
             "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}]}

    def chunk(delta, finish=None):
        return None, {**base, "object": "chat.completion.chunk",
                      "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    events = [chunk({"role": "assistant", "content": None if calls else "done"})]
    for i, c in enumerate(calls):
        events.append(chunk({"tool_calls": [{"index": i, "id": c[0], "type": "function", "function": function(c)}]}))
    events += [chunk({}, finish),
               (None, {**base, "object": "chat.completion.chunk", "choices": [], "usage": CHAT_USAGE}),
               (None, "[DONE]")]
    return whole, events


def responses(body, calls):
    output = [{"type": "function_call", "id": f"fc_{i}", "call_id": c[0], "name": c[1],
               "arguments": json.dumps(c[2]), "status": "completed"} for i, c in enumerate(calls, 1)]
    if not calls:
        output = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                   "content": [{"type": "output_text", "text": "done", "annotations": [], "logprobs": []}]}]
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "error": None,
             "incomplete_details": None, "instructions": None, "metadata": {}, "model": body["model"],
             "output": output, "parallel_tool_calls": True, "temperature": 1, "top_p": 1,
             "tool_choice": "auto", "tools": body.get("tools", []), "usage": RESPONSES_USAGE}
    steps = [("response.created", {"response": {**whole, "status": "in_progress", "output": [], "usage": None}})]
    for i, item in enumerate(output):
        where = {"output_index": i, "item_id": item["id"]}
        if item["type"] == "function_call":
            steps += [
                ("response.output_item.added", {"output_index": i, "item": {**item, "arguments": "", "status": "in_progress"}}),
                ("response.function_call_arguments.delta", {**where, "delta": item["arguments"]}),
                ("response.function_call_arguments.done", {**where, "name": item["name"], "arguments": item["arguments"]}),
            ]
        else:
            part, at = item["content"][0], {**where, "content_index": 0}
            steps += [
                ("response.output_item.added", {"output_index": i, "item": {**item, "content": [], "status": "in_progress"}}),
                ("response.content_part.added", {**at, "part": {**part, "text": ""}}),
                ("response.output_text.delta", {**at, "delta": "done", "logprobs": []}),
                ("response.output_text.done", {**at, "text": "done", "logprobs": []}),
                ("response.content_part.done", {**at, "part": part}),
            ]
        steps.append(("response.output_item.done", {"output_index": i, "item": item}))
    steps.append(("response.completed", {"response": whole}))
    return whole, [(kind, {"type": kind, "sequence_number": n, **data}) for n, (kind, data) in enumerate(steps)]


def messages(body, calls):
    content = [{"type": "tool_use", "id": c[0], "name": c[1], "input": c[2]} for c in calls]
    content = content or [{"type": "text", "text": "done"}]
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
             "content": content, **stop, "usage": USAGE}
    steps = [("message_start", {"message": {**whole, "content": [], "stop_reason": None}})]
    for i, block in enumerate(content):
        if calls:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}
        steps += [("content_block_start", {"index": i, "content_block": start}),
                  ("content_block_delta", {"index": i, "delta": delta}),
                  ("content_block_stop", {"index": i})]
    steps += [("message_delta", {"delta": stop, "usage": {"output_tokens": 5}}), ("message_stop", {})]
    return whole, [(kind, {"type": kind, **data}) for kind, data in steps]


WIRES = {"chat/completions": chat, "responses": responses, "messages": messages}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        raw = self.read_body()
        try:
            self.answer(raw)
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            self.send(400, "application/json", json.dumps({"error": {"message": repr(problem)}}).encode())

    def answer(self, raw):
        where = PATH.match(self.path.split("?")[0])
        if not where:
            return self.send(404, "application/json", b'{"error":{"message":"no such path"}}')
        if self.headers.get("content-encoding"):
            raise ValueError("a compressed body would not be recorded as plain bytes")
        options, wire, body = self.server.options, where["wire"], json.loads(raw)
        calls = []
        if has_results(wire, body):
            path = options.out / f"{where['name'] or options.name}.json"
            path.write_bytes(raw)
            print(f"recorded {path.name} {len(raw)} bytes", file=sys.stderr, flush=True)
        else:
            asked = re.search(r"parallel(\d+)", body["model"])
            count = int(where["calls"] or (asked and asked[1]) or options.calls)
            calls = plan_calls(wire, body, count)
        whole, events = WIRES[wire](body, calls)
        if not body.get("stream"):
            return self.send(200, "application/json", json.dumps(whole).encode())
        lines = []
        for kind, data in events:
            lines.append(f"event: {kind}\n" if kind else "")
            lines.append(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
        self.send(200, "text/event-stream", "".join(lines).encode())

    def read_body(self):
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        raw = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            raw += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return raw

    def send(self, status, kind, data):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for recorded bodies")
    parser.add_argument("--name", default="body", help="file name when the path gives none")
    parser.add_argument("--calls", type=int, default=1, help="tool calls to make when nothing else says")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.options = options
    print(server.server_port, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
