"""Turns, parts and bodies of the three wires, and the list every case registers itself in."""
import base64
import json
from pathlib import Path

IMAGES = Path(__file__).parent.parent / "images"
CASES = []
TYPES = {
    "png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "bmp": "image/bmp",
    "tiff": "image/tiff", "svg": "image/svg+xml", "pdf": "application/pdf", "wav": "audio/wav",
}


def case(name, wire, title, body, *, findings=(), covers=(), sees=None, owners=None, keeps=(), never=(),
         note=None, model=None, host=None, profile=None, style="js", post=None, reply=False):
    """Registers a case. `style`: js (compact), py (spaces, ASCII), pretty. `post` edits the written text."""
    CASES.append(dict(locals()))


# --- media -----------------------------------------------------------------------------------------

def raw(name):
    return (IMAGES / name).read_bytes()


def b64(name):
    return base64.b64encode(raw(name)).decode()


def mime(name):
    return TYPES[name.rsplit(".", 1)[1]]


def url(name, label=None):
    return f"data:{label or mime(name)};base64,{b64(name)}"


def dump(value):
    """What JSON.stringify gives."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# --- what agents put into tool text ------------------------------------------------------------------

def text(words):
    return {"type": "text", "text": words}


def sdk6(name, label=None):
    return {"type": "image-data", "data": b64(name), "mediaType": label or mime(name)}


def mcp_image(name, label=None):
    return {"type": "image", "data": b64(name), "mimeType": label or mime(name)}


# --- tools -------------------------------------------------------------------------------------------

STRING = {"type": "string"}
BROWSER = {
    "navigate": ("Open a page in the browser.", {"url": STRING}),
    "screenshot": ("Take a screenshot of the page.", {"full_page": {"type": "boolean"}}),
    "click": ("Click at a point.", {"x": {"type": "integer"}, "y": {"type": "integer"}}),
}
CODING = {
    "read_file": ("Read a text file.", {"path": STRING}),
    "view_image": ("Show an image file.", {"path": STRING}),
    "shell": ("Run a command.", {"command": STRING}),
}


def schema(properties):
    return {"type": "object", "properties": properties, "additionalProperties": False}


# --- openai-chat -------------------------------------------------------------------------------------

def chat(*messages, model="gpt-4o", tools=BROWSER, **more):
    body = {"model": model, "messages": list(messages)}
    if tools:
        body["tools"] = [
            {"type": "function", "function": {"name": n, "description": d, "parameters": schema(p)}}
            for n, (d, p) in tools.items()
        ]
    return body | more


def system(content):
    return {"role": "system", "content": content}


def user(*content):
    """One string stays a string; anything else is a list of parts."""
    if len(content) == 1 and isinstance(content[0], str):
        return {"role": "user", "content": content[0]}
    return {"role": "user", "content": [text(c) if isinstance(c, str) else c for c in content]}


def img(name, detail=None, label=None):
    return img_url(url(name, label), detail)


def img_url(address, detail=None):
    return {"type": "image_url", "image_url": {"url": address} | ({"detail": detail} if detail else {})}


def call(call_id, name, **arguments):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": dump(arguments)}}


def asst(content, *calls, **more):
    return {"role": "assistant", "content": content} | ({"tool_calls": list(calls)} if calls else {}) | more


def tool(call_id, *content):
    if len(content) == 1 and isinstance(content[0], str):
        return {"role": "tool", "tool_call_id": call_id, "content": content[0]}
    return {"role": "tool", "tool_call_id": call_id, "content": [text(c) if isinstance(c, str) else c for c in content]}


# --- openai-responses --------------------------------------------------------------------------------

def responses(*items, model="gpt-5.4", tools=BROWSER, instructions=None, **more):
    body = {"model": model} | ({"instructions": instructions} if instructions else {}) | {"input": list(items)}
    if tools:
        body["tools"] = [
            {"type": "function", "name": n, "description": d, "parameters": schema(p), "strict": False}
            for n, (d, p) in tools.items()
        ]
    return body | more


def rtext(words):
    return {"type": "input_text", "text": words}


def rimg(name, detail="auto", label=None):
    return rimg_url(url(name, label), detail)


def rimg_url(address, detail="auto"):
    return {"type": "input_image", "image_url": address} | ({"detail": detail} if detail else {})


def ruser(*content, role="user"):
    if len(content) == 1 and isinstance(content[0], str):
        return {"role": role, "content": content[0]}
    parts = [rtext(c) if isinstance(c, str) else c for c in content]
    return {"type": "message", "role": role, "content": parts}


def rasst(words, item="msg_01"):
    part = {"type": "output_text", "text": words, "annotations": []}
    return {"type": "message", "id": item, "role": "assistant", "status": "completed", "content": [part]}


def rcall(call_id, name, **arguments):
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": dump(arguments)}


def rout(call_id, *content):
    if len(content) == 1 and isinstance(content[0], str):
        return {"type": "function_call_output", "call_id": call_id, "output": content[0]}
    parts = [rtext(c) if isinstance(c, str) else c for c in content]
    return {"type": "function_call_output", "call_id": call_id, "output": parts}


# --- anthropic ---------------------------------------------------------------------------------------

def anthropic(*messages, model="claude-sonnet-4-5", tools=BROWSER, system=None, max_tokens=4096, **more):
    body = {"model": model, "max_tokens": max_tokens} | ({"system": system} if system else {})
    if tools:
        body["tools"] = [
            {"name": n, "description": d, "input_schema": schema(p)} for n, (d, p) in tools.items()
        ]
    return body | {"messages": list(messages)} | more


def aimg(name, label=None, **more):
    return {"type": "image", "source": {"type": "base64", "media_type": label or mime(name), "data": b64(name)}} | more


def aimg_raw(label, data):
    return {"type": "image", "source": {"type": "base64", "media_type": label, "data": data}}


def auser(*content):
    if len(content) == 1 and isinstance(content[0], str):
        return {"role": "user", "content": content[0]}
    return {"role": "user", "content": [text(c) if isinstance(c, str) else c for c in content]}


def aasst(*content):
    return {"role": "assistant", "content": [text(c) if isinstance(c, str) else c for c in content]}


def use(call_id, name, **arguments):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id, *content, **more):
    if len(content) == 1 and isinstance(content[0], str):
        return {"type": "tool_result", "tool_use_id": call_id, "content": content[0]} | more
    parts = [text(c) if isinstance(c, str) else c for c in content]
    return {"type": "tool_result", "tool_use_id": call_id, "content": parts} | more
