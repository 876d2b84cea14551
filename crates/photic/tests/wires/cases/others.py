"""gemini, bedrock-converse, ollama: where images stand, and what each wire demands beside."""
from .turns import *

G, B, O = "gemini", "bedrock-converse", "ollama"
AGENT = "You are a browser agent."
SHOT = {"full_page": False}


# --- gemini --------------------------------------------------------------------------------------------

def gemini(*contents, tools=BROWSER, **more):
    body = {"contents": list(contents)}
    if tools:
        body["tools"] = [{"functionDeclarations": [
            {"name": n, "description": d, "parameters": schema(p)} for n, (d, p) in tools.items()]}]
    return body | more


def gpart(part):
    return {"text": part} if isinstance(part, str) else part


def guser(*parts):
    return {"role": "user", "parts": [gpart(p) for p in parts]}


def gmodel(*parts):
    return {"role": "model", "parts": [gpart(p) for p in parts]}


def blob(name, label=None):
    return {"inlineData": {"mimeType": label or mime(name), "data": b64(name)}}


def gcall(name, call_id=None, signature=None, **args):
    part = {"functionCall": ({"id": call_id} if call_id else {}) | {"name": name, "args": args}}
    return part | ({"thoughtSignature": signature} if signature else {})


def gresult(name, response, *media, call_id=None):
    inner = ({"id": call_id} if call_id else {}) | {"name": name, "response": response}
    return {"functionResponse": inner | ({"parts": list(media)} if media else {})}


# As google-genai for Python writes bytes.
URL_SAFE = b64("photo.jpg").replace("+", "-").replace("/", "_")
SYSTEM = {"systemInstruction": {"parts": [{"text": AGENT}]}}

case("gemini-native", G, "Gemini 3: the image stands in functionResponse.parts; nothing to repair",
     gemini(guser("Open example.com. Which colour is the banner?"), gmodel(gcall("screenshot", "call_1", "c2ln", **SHOT)),
            guser(gresult("screenshot", {"output": "Screenshot taken."}, blob("red.png"), call_id="call_1")), **SYSTEM),
     covers=["edge:1", "edge:13", "edge:21"], sees=["red.png"], owners=["call_1"], keeps=["Screenshot taken."], model="gemini-3-pro")
case("gemini-2-in-result", G, "Gemini 2: media in a response are refused, so the image stands beside it in the same turn",
     gemini(guser("Look."), gmodel(gcall("screenshot", "call_1", **SHOT)),
            guser(gresult("screenshot", {"output": "Screenshot taken."}, blob("red.png"), call_id="call_1")), **SYSTEM),
     findings=["image_in_forbidden_role"], covers=["edge:21", "regression:5", "regression:6"], sees=["red.png"], owners=["call_1"],
     keeps=["Screenshot taken."], model="gemini-2.5-flash")
case("gemini-no-ids", G, "calls without ids: responses pair by name, in order",
     gemini(guser("Compare both."), gmodel("I look.", gcall("screenshot", None, "c2ln", **SHOT), gcall("screenshot", full_page=True)),
            guser(gresult("screenshot", {"output": "left"}, blob("red.png")), gresult("screenshot", {"output": "right"}, blob("blue.png")))),
     covers=["edge:4", "edge:6"], sees=["red.png", "blue.png"], owners=["call_1", "call_2"], keeps=["left", "right", "I look."], model="gemini-3-pro")
case("gemini-url-safe", G, "URL-safe base64, padded and unpadded, and the standard alphabet unpadded: the service takes all of them",
     gemini(guser("Look.", *({"inlineData": {"mimeType": mime(name), "data": data}} for name, data in (
            ("photo.jpg", URL_SAFE), ("red.png", b64("red.png").rstrip("=")))), "And again."),
            gmodel(gcall("screenshot", "call_1", "c2ln", **SHOT)),
            guser(gresult("screenshot", {"output": "Taken."},
                          {"inlineData": {"mimeType": "image/jpeg", "data": URL_SAFE.rstrip("=")}}, call_id="call_1"))),
     covers=["edge:98"], sees=["photo.jpg", "red.png", "photo.jpg"], owners=["user", "user", "call_1"],
     keeps=["And again.", "Taken."], model="gemini-3-pro")
case("gemini-mcp-response", G, "an MCP result forwarded as the response: the image in it is found",
     gemini(guser("Look."), gmodel(gcall("screenshot", "call_1", "c2ln")),
            guser(gresult("screenshot", {"content": [text("shot"), mcp_image("red.png")], "isError": False}, call_id="call_1"))),
     findings=["image_as_text"], covers=["shape:mcp"], sees=["red.png"], owners=["call_1"], keeps=["shot"], model="gemini-3-pro")
case("gemini-stringified", G, "a stringified list of AI SDK parts as the output",
     gemini(guser("Look."), gmodel(gcall("screenshot", "call_1", "c2ln")),
            guser(gresult("screenshot", {"output": dump([text("shot"), sdk6("red.png")])}, call_id="call_1"))),
     findings=["image_as_text"], covers=["shape:ai-sdk-6"], sees=["red.png"], owners=["call_1"], keeps=["shot"], model="gemini-3-pro")
case("gemini-missing-response", G, "two calls and one response: the numbers have to be equal",
     gemini(guser("Look."), gmodel(gcall("screenshot", "call_1", "c2ln"), gcall("click", "call_2", x=1, y=2)),
            guser(gresult("screenshot", {"output": "shot"}, blob("red.png"), call_id="call_1"), "And now?")),
     findings=["missing_tool_result"], covers=["edge:8"], sees=["red.png"], owners=["call_1"], keeps=["shot", "And now?"], model="gemini-3-pro")
case("gemini-error-and-thoughts", G, "a failed response beside thoughts, which keep their bytes",
     gemini(guser("Look."), gmodel({"text": "hm", "thought": True}, gcall("screenshot", "call_1", "c2ln")),
            guser(gresult("screenshot", {"error": "no display"}, call_id="call_1"))),
     covers=["edge:10", "edge:18"], sees=[], keeps=["no display"], model="gemini-3-pro")
case("gemini-wrong-labels", G, "image/jpg, and a JPEG that says PNG",
     gemini(guser("Look.", blob("photo.jpg", "image/jpg"), blob("photo.jpg", "image/png"))),
     findings=["malformed_data_url", "wrong_label"], covers=["edge:99", "regression:10"], sees=["photo.jpg", "photo.jpg"], keeps=["Look."])
case("gemini-gif", G, "GIF is refused there", gemini(guser("Look.", blob("still.gif"))), findings=["unsupported_type"],
     covers=["regression:10"], note="the core cannot transcode, so other wires see it and this one does not")
case("gemini-snake-case", G, "names with underscores, as older clients write them, and the schema dialect in capitals",
     {"contents": [{"role": "user", "parts": [{"text": "Look."}, {"inline_data": {"mime_type": "image/png", "data": b64("red.png")}}]},
                   {"role": "model", "parts": [{"function_call": {"name": "shot", "args": {}}}]},
                   {"role": "user", "parts": [{"function_response": {"name": "shot", "response": {"result": "done"}}}]}],
      "system_instruction": {"parts": [{"text": AGENT}]}, "generation_config": {"max_output_tokens": 64, "stop_sequences": ["END"]},
      "tools": [{"function_declarations": [{"name": "shot", "parameters": {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}}}]}],
      "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["shot"]}}},
     covers=["edge:28"], sees=["red.png"], owners=["user"], keeps=["Look.", "done"], model="gemini-3-pro")
case("gemini-pdf-and-sound", G, "a PDF and a sound as inline data", gemini(guser("Read.", blob("doc.pdf"), blob("tone.wav"))), sees=[], keeps=["Read."])


# --- bedrock-converse ------------------------------------------------------------------------------------

def converse(*messages, tools=BROWSER, **more):
    body = {"messages": list(messages)}
    if tools:
        body["toolConfig"] = {"tools": [
            {"toolSpec": {"name": n, "description": d, "inputSchema": {"json": schema(p)}}} for n, (d, p) in tools.items()]}
    return body | more


def bblock(part):
    return {"text": part} if isinstance(part, str) else part


def buser(*blocks):
    return {"role": "user", "content": [bblock(b) for b in blocks]}


def basst(*blocks):
    return {"role": "assistant", "content": [bblock(b) for b in blocks]}


def bimg(name, label=None):
    return {"image": {"format": label or mime(name).split("/")[1], "source": {"bytes": b64(name)}}}


def buse(call_id, name, **args):
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": args}}


def bresult(call_id, *blocks, status=None):
    return {"toolResult": {"toolUseId": call_id, "content": [bblock(b) for b in blocks]} | ({"status": status} if status else {})}


CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0"

case("converse-claude", B, "Claude: the image natively in the toolResult",
     converse(buser("Which colour?"), basst("Let me look.", buse("tooluse_1", "screenshot", **SHOT)),
              buser(bresult("tooluse_1", "Screenshot taken.", bimg("red.png"))), system=[{"text": AGENT}], inferenceConfig={"maxTokens": 512}),
     covers=["edge:1", "edge:19"], sees=["red.png"], owners=["tooluse_1"], keeps=["Screenshot taken."], model=CLAUDE)
case("converse-openai", B, "OpenAI models: refused in the result, taken beside it in the same message",
     converse(buser("Which colour?"), basst(buse("tooluse_1", "screenshot", **SHOT), buse("tooluse_2", "click", x=1, y=2)),
              buser(bresult("tooluse_1", "Screenshot taken.", bimg("red.png")), bresult("tooluse_2", "clicked"))),
     findings=["image_in_forbidden_role"], covers=["edge:19", "regression:5", "regression:6"], sees=["red.png"], owners=["tooluse_1"],
     keeps=["Screenshot taken.", "clicked"], model="openai.gpt-5.4")
case("converse-pixtral", B, "models that refuse other blocks beside results: an assistant turn between",
     converse(buser("Which colour?"), basst(buse("tooluse_1", "screenshot", **SHOT)),
              buser(bresult("tooluse_1", "Screenshot taken.", bimg("red.png")), "And the border?")),
     findings=["image_in_forbidden_role"], covers=["edge:14", "edge:19", "regression:6"], sees=["red.png"], owners=["tooluse_1"],
     keeps=["Screenshot taken.", "And the border?"], model="mistral.pixtral-large-2502-v1:0")
case("converse-error-image", B, "a failed result with an image: text only",
     converse(buser("Look."), basst(buse("tooluse_1", "screenshot")), buser(bresult("tooluse_1", "timeout", bimg("red.png"), status="error"))),
     findings=["image_in_error_result"], covers=["edge:10", "regression:4"], sees=["red.png"], owners=["tooluse_1"], keeps=["timeout"], model=CLAUDE)
case("converse-error-empty", B, "a failed result without a word",
     converse(buser("Look."), basst(buse("tooluse_1", "screenshot")), buser(bresult("tooluse_1", status="error"))),
     findings=["empty_tool_content"], covers=["edge:11"], sees=[], keeps=["Look."], model=CLAUDE)
case("converse-json-block", B, "an MCP result in a json block: the image in it is found",
     converse(buser("Look."), basst(buse("tooluse_1", "screenshot")),
              buser(bresult("tooluse_1", {"json": {"content": [text("shot"), mcp_image("red.png")]}}))),
     findings=["image_as_text"], covers=["shape:mcp"], sees=["red.png"], owners=["tooluse_1"], keeps=["shot"], model=CLAUDE)
case("converse-document", B, "a document beside a question, and a cache point",
     converse(buser("Read.", {"document": {"format": "pdf", "name": "report 1", "source": {"bytes": b64("doc.pdf")}}}, {"cachePoint": {"type": "default"}}), tools=None),
     sees=[], keeps=["Read."], model=CLAUDE)
case("converse-wrong-format", B, "a JPEG that says png",
     converse(buser("Look.", bimg("photo.jpg", "png")), tools=None), findings=["wrong_label"], covers=["regression:10"], sees=["photo.jpg"], keeps=["Look."])
case("converse-orphan", B, "a result that answers nothing",
     converse(buser("Look."), basst("Well."), buser(bresult("tooluse_9", "shot", bimg("red.png")))),
     findings=["orphan_tool_result"], covers=["edge:8"], sees=["red.png"], owners=["tooluse_9"], keeps=["shot", "Well."], model=CLAUDE)


# --- ollama ----------------------------------------------------------------------------------------------

def ollama(*messages, tools=BROWSER, **more):
    body = {"model": "qwen2.5vl:7b", "messages": list(messages)}
    if tools:
        body["tools"] = [
            {"type": "function", "function": {"name": n, "description": d, "parameters": schema(p)}} for n, (d, p) in tools.items()]
    return body | {"stream": False} | more


def osay(role, words, *images, **more):
    return {"role": role, "content": words} | ({"images": [b64(i) for i in images]} if images else {}) | more


def ocall(name, call_id=None, **args):
    return ({"id": call_id} if call_id else {}) | {"function": {"name": name, "arguments": args}}


case("ollama-user-image", O, "an image beside the words of the user", ollama(osay("user", "Which colour?", "red.png"), tools=None),
     covers=["edge:23"], sees=["red.png"], owners=["user"], keeps=["Which colour?"])
case("ollama-markers", O, "two images where their markers stand", ollama(osay("user", "First [img] then [img], which is red?", "red.png", "blue.png"), tools=None),
     covers=["edge:23"], sees=["red.png", "blue.png"], owners=["user", "user"], keeps=["which is red?"])
case("ollama-tool-image", O, "an image on a tool message: templates do not show it, so the user does",
     ollama(osay("user", "Look."), osay("assistant", "", tool_calls=[ocall("screenshot", "call_1", **SHOT)]),
            osay("tool", "Screenshot taken.", "red.png", tool_name="screenshot", tool_call_id="call_1")),
     findings=["image_in_forbidden_role"], covers=["edge:1", "edge:13", "edge:23"], sees=["red.png"], owners=["call_1"], keeps=["Screenshot taken."])
case("ollama-no-ids", O, "calls without ids: tool messages pair by name or by place",
     ollama(osay("user", "Both."), osay("assistant", "", tool_calls=[ocall("screenshot", **SHOT), ocall("click", x=1, y=2)]),
            osay("tool", "clicked", tool_name="click"), osay("tool", dump([text("shot"), sdk6("red.png")]))),
     findings=["image_as_text"], covers=["edge:2", "shape:ai-sdk-6"], sees=["red.png"], owners=["call_1"], keeps=["clicked", "shot"])
case("ollama-data-url", O, "a data URL where bare base64 belongs",
     ollama({"role": "user", "content": "Look.", "images": [url("red.png")]}, tools=None),
     findings=["malformed_data_url"], covers=["edge:98"], sees=["red.png"], owners=["user"], keeps=["Look."])
case("ollama-options", O, "options, a format and thinking",
     ollama(osay("system", AGENT), osay("user", "Count."), osay("assistant", "One.", thinking="hm"), osay("user", "More."), tools=None,
            options={"temperature": 0.2, "num_predict": 64, "stop": ["END"], "num_ctx": 8192}, format="json", keep_alive="5m"),
     covers=["edge:18", "edge:28"], sees=[], keeps=["Count.", "More.", "One."])


# --- replies -----------------------------------------------------------------------------------------------

def reply(name, wire, title, body, keeps=()):
    case(name, wire, title, body, sees=[], keeps=keeps, reply=True)


def greply(*parts, finish="STOP", **more):
    return {"candidates": [{"content": {"parts": [gpart(p) for p in parts], "role": "model"}, "finishReason": finish, "index": 0}],
            "usageMetadata": {"promptTokenCount": 1284, "candidatesTokenCount": 21, "totalTokenCount": 1405, "thoughtsTokenCount": 100},
            "modelVersion": "gemini-3-pro", "responseId": "r-1"} | more


reply("reply-gemini-text", G, "text", greply("The banner is red."), ["The banner is red."])
reply("reply-gemini-calls", G, "thoughts, words and two calls with ids",
      greply({"text": "hm", "thought": True}, "I look.", gcall("screenshot", "call_1", "c2ln", **SHOT), gcall("click", "call_2", x=1, y=2)))
reply("reply-gemini-length", G, "cut off", greply("The banner", finish="MAX_TOKENS"), ["The banner"])
reply("reply-gemini-error", G, "an error", {"error": {"code": 400, "message": "Unable to process input image.", "status": "INVALID_ARGUMENT"}})


def breply(*blocks, stop="end_turn"):
    return {"output": {"message": {"role": "assistant", "content": [bblock(b) for b in blocks]}}, "stopReason": stop,
            "usage": {"inputTokens": 1284, "outputTokens": 21, "totalTokens": 1305, "cacheReadInputTokens": 7}, "metrics": {"latencyMs": 9}}


reply("reply-converse-text", B, "text", breply("The banner is red."), ["The banner is red."])
reply("reply-converse-calls", B, "words and a call", breply("I look.", buse("tooluse_1", "screenshot", **SHOT), stop="tool_use"), ["I look."])
reply("reply-converse-error", B, "an error", {"message": "Input is too long for requested model."})


def oreply(message, reason="stop", **more):
    return {"model": "qwen2.5vl:7b", "created_at": "2026-11-16T02:00:00.1Z", "message": {"role": "assistant"} | message, "done": True,
            "done_reason": reason, "total_duration": 9, "prompt_eval_count": 1284, "eval_count": 21} | more


reply("reply-ollama-text", O, "text", oreply({"content": "The banner is red."}), ["The banner is red."])
reply("reply-ollama-calls", O, "a call with an id", oreply({"content": "", "tool_calls": [ocall("screenshot", "call_1", **SHOT)]}))
reply("reply-ollama-error", O, "an error", {"error": "model 'x' not found"})
