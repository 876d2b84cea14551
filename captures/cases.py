#!/usr/bin/env python3
"""The list of captures, and the index of what was recorded.

    cases.py list [--only GLOB] [--except GLOB]   one line per capture: runner, name
    cases.py send RUNNER [--only GLOB] [--except GLOB] [--base-url URL]
                                  the captures of one runner as JSON, for its client
    cases.py index DIR            check the bodies in DIR and write DIR/index.toml

A capture is what one client does with one *variant*: what the tool returned.
In a variant a plain string is text, "@name" an image file of ours, and a
"https:" string an image given by address (nothing is fetched from there).
"""
import argparse, base64, fnmatch, json, pathlib, re

HERE = pathlib.Path(__file__).resolve().parent
URL = "https://images.example/bars.png"
# The quotes, the line break and the arrow are there to meet every escaping rule on the way.
NOTE = 'Before → after:\n"left" is old, "right" is new.'

# One list per tool call.
VARIANTS = {
    "one": [["The chart you asked for.", "@bars.png"]],
    "image-only": [["@disc.png"]],
    "text-two-images": [[NOTE, "@bars.png", "@page.jpg"]],
    "parallel-first": [["Camera 1.", "@disc.png"], ["Camera 2 is off."]],
    "parallel-both": [["Camera 1.", "@bars.png"], ["Camera 2.", "@wave.webp"]],
    "error": [["Timed out. The screen showed:", "@disc.png"]],
    "url": [["The chart is online.", URL]],
}
BASIC = {name: {} for name in VARIANTS}

# Extra captures: name -> settings. `of` names the variant (default "one"), `as` the
# shape the tool's author chose, `how` any other switch the client script knows.
PLAIN = {"plain-json": {"as": "json"}}  # tool result handed over without toModelOutput
MCP = {"mcp": {"as": "mcp"}, "mcp-error": {"as": "mcp", "of": "error"}}
# What users set beside messages and tools; each client spells it its own way.
SETTINGS = {"settings": {"how": "settings"}}
TALK = {"followup": {"how": "followup"}, "stream": {"how": "stream"}}
AI6_OLD = {"media": {"as": "media"}, "file-data": {"as": "file-data"}}
# 7 also takes bytes: a Uint8Array, or the Buffer that reading a file gives.
AI7_OLD = {"bytes": {"as": "bytes"}, "buffer": {"as": "buffer"}, "image-data": {"as": "image-data"}}
# A gateway is not known to read addresses, so the AI SDK fetches the image itself and
# sends the bytes, unless the gateway was declared to read them.
GATEWAY_URL = {"url": {"how": "download"}, "url-passed": {"of": "url", "how": "urls"}}
MCP_TEXT = {
    "mcp-text": {"as": "mcp-text"},
    "mcp-text-parallel-both": {"as": "mcp-text", "of": "parallel-both"},
    "mcp-text-error": {"as": "mcp-text", "of": "error"},
}
CHAT_TEXT = {**MCP_TEXT, "data-url-text": {"as": "data-url-text", "of": "image-only"},
             "screenshot-text": {"as": "screenshot-text", "of": "image-only"}}
# The Anthropic runners keep the history on the server ("thread") unless told not to.
UNTHREADED = {
    "unthreaded": {"how": "unthreaded"},
    "unthreaded-parallel-both": {"how": "unthreaded", "of": "parallel-both"},
    "unthreaded-error": {"how": "unthreaded", "of": "error"},
}
NOT_ERROR = {k: v for k, v in BASIC.items() if k != "error"}  # these wires have no error flag

# (prefix of the name, runner, api in the client script, wire, package, captures)
MATRIX = []
for ai, old, multipart in (
    ("ai6", AI6_OLD, {}),
    ("ai7", AI7_OLD, {"multipart": {"how": "multipart"}, "multipart-parallel-both": {"how": "multipart", "of": "parallel-both"}}),
):
    MATRIX += [
        (f"{ai}-openai-compatible", ai, "openai-compatible", "openai-chat", "@ai-sdk/openai-compatible",
         {**BASIC, **GATEWAY_URL, **PLAIN, **MCP, **TALK, **SETTINGS, **old, **multipart}),
        (f"{ai}-openai-chat", ai, "openai-chat", "openai-chat", "@ai-sdk/openai", {**BASIC, **PLAIN, **MCP, **SETTINGS, **old}),
        (f"{ai}-openai-responses", ai, "openai-responses", "openai-responses", "@ai-sdk/openai",
         {**BASIC, **PLAIN, **MCP, **TALK, **SETTINGS, **old, "unstored": {"how": "unstored"}}),
        (f"{ai}-anthropic", ai, "anthropic", "anthropic", "@ai-sdk/anthropic", {**BASIC, **PLAIN, **MCP, **TALK, **SETTINGS, **old}),
    ]
for language in ("node", "python"):
    MATRIX += [
        (f"openai-{language}-chat", f"openai-{language}", "chat", "openai-chat", "openai",
         {**NOT_ERROR, **CHAT_TEXT, **SETTINGS, "stream": {"how": "stream"},
          **({"run-tools": {"how": "run-tools"}, "run-tools-mcp": {"how": "run-tools", "as": "mcp"}} if language == "node" else {})}),
        (f"openai-{language}-responses", f"openai-{language}", "responses", "openai-responses", "openai",
         {**NOT_ERROR, **SETTINGS, "mcp-text": {"as": "mcp-text"}, "previous-id": {"how": "previous-id"}, "stream": {"how": "stream"}}),
        (f"anthropic-{language}", f"anthropic-{language}", "messages", "anthropic", "@anthropic-ai/sdk" if language == "node" else "anthropic",
         {**BASIC, **UNTHREADED, **SETTINGS, "manual": {"how": "manual"}, "manual-parallel-both": {"how": "manual", "of": "parallel-both"},
          "mcp-text": {"as": "mcp-text"}, "stream": {"how": "stream"}}),
    ]

# What a client is known to leave out, so that the check below can insist on all the rest.
LOST = {
    "ai6-anthropic-file-data": ["bars.png"],  # only image-data and PDF are turned into blocks; the rest goes with a warning
}


def cases(only="*", without=""):
    for prefix, runner, api, wire, package, captures in MATRIX:
        for variant, settings in captures.items():
            name, of = f"{prefix}-{variant}", settings.get("of", variant if variant in VARIANTS else "one")
            if fnmatch.fnmatch(name, only) and not fnmatch.fnmatch(name, without):
                yield {"name": name, "runner": runner, "api": api, "wire": wire, "package": package,
                       "variant": variant, "results": VARIANTS[of], "error": of == "error",
                       "as": settings.get("as", "default"), "how": settings.get("how", "default")}


def picture(file):
    data = base64.b64encode((HERE / "images" / file).read_bytes()).decode()
    return {"data": data, "mediaType": "image/" + {"jpg": "jpeg"}.get(end := file.rsplit(".")[-1], end), "file": file}


def send(runner, only, without, base_url):
    """Images inlined, so that the clients need not know where ours lie."""
    out = []
    for case in cases(only, without):
        if case["runner"] != runner:
            continue
        results = [
            [picture(p[1:]) if p.startswith("@") else {"url": URL, **picture("bars.png")} if p == URL else {"text": p} for p in parts]
            for parts in case["results"]
        ]
        # A recorder is told by path what to record as; another server (live tests) is not.
        url = base_url.replace("{name}", case["name"]).replace("{calls}", str(len(results)))
        out.append({**case, "results": results, "url": url})
    print(json.dumps(out))


def version(runner, package):
    folder = {"openai-node": "node", "anthropic-node": "node"}.get(runner, runner)
    if folder.endswith("-python"):
        return re.search(rf"^{package}==(\S+)$", (HERE / "python/requirements.txt").read_text(), re.M)[1]
    return json.loads((HERE / folder / "package.json").read_text())["dependencies"][package]


# ---- what the client did, read back from the body ----

def slots(wire, body):
    """The tool results of a body, in order, each with its error flag."""
    if wire == "openai-chat":
        return [(m["content"], False) for m in body["messages"] if m["role"] == "tool"]
    if wire == "openai-responses":
        return [(i["output"], False) for i in body["input"] if i.get("type") == "function_call_output"]
    blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
    return [(b.get("content"), b.get("is_error", False)) for b in blocks if b["type"] == "tool_result"]


def spellings(data):
    """The ways a picture's bytes were seen to be written; the last two inside a JSON string."""
    return [base64.b64encode(data).decode(), ",".join(map(str, data)),
            ",".join(f'\\"{i}\\":{byte}' for i, byte in enumerate(data))]


def named(value, pictures):
    """The picture a list or index map of bytes spells, if any."""
    values = list(value.values()) if isinstance(value, dict) else value
    return next((n for n, d in pictures.items() if values == list(d)), None)


def sketch(value, pictures):
    """The value with every picture named instead of spelled out."""
    if isinstance(value, (list, dict)) and (name := named(value, pictures)):
        return f"[<{name}> AS BYTES]" if isinstance(value, list) else f"{{INDEX: BYTE of <{name}>}}"
    if isinstance(value, list):
        return "[" + ", ".join(sketch(v, pictures) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {sketch(v, pictures)}" for k, v in value.items()) + "}"
    if not isinstance(value, str):
        return json.dumps(value)
    for name, data in pictures.items():
        value = value.replace(spellings(data)[0], f"<{name}>")
    try:
        inner = json.loads(value)
    except ValueError:
        inner = None
    if isinstance(inner, (list, dict)):
        return "STRING of JSON " + sketch(inner, pictures)
    return value if len(value) < 60 and re.fullmatch(r"[\w./:;,<>+-]+", value) else "TEXT"


def index(folder):
    pictures = {f.name: f.read_bytes() for f in sorted((HERE / "images").iterdir())}
    lines = ["# Written by captures/run. One entry per recorded body; see captures/README.md.",
             "# images: what must arrive, in order: a file of captures/images, or an address as given.", ""]
    count = 0
    for case in cases():
        path = folder / f"{case['name']}.json"
        if not path.exists():
            continue
        count += 1
        raw = path.read_text()
        wanted = [p.lstrip("@") for parts in case["results"] for p in parts if p.startswith("@") or p == URL]
        if case["how"] == "download":
            wanted = ["bars.png" if w == URL else w for w in wanted]
        wanted = [w for w in wanted if w not in LOST.get(case["name"], [])]
        found = [max(map(raw.find, spellings(pictures[w]) if w in pictures else [w])) for w in wanted]
        if -1 in found or found != sorted(found):
            raise SystemExit(f"{path.name}: pictures missing or out of order: {dict(zip(wanted, found))}")
        others = [n for n, d in pictures.items() if n not in wanted and any(t in raw for t in spellings(d))]
        if others:
            raise SystemExit(f"{path.name}: has pictures it should not: {others}")
        body = json.loads(raw)
        seen = slots(case["wire"], body)
        if len(seen) != len(case["results"]):
            raise SystemExit(f"{path.name}: {len(seen)} tool results, {len(case['results'])} expected")
        if case["how"] == "stream" and not body.get("stream"):
            raise SystemExit(f"{path.name}: not streamed")
        if case["how"] == "followup" and (body.get("messages") or body["input"])[-1]["role"] != "user":
            raise SystemExit(f"{path.name}: does not end with the user's next question")
        note = f"{case['runner']}; tool result = "
        note += " | ".join(("is_error " if flag else "") + sketch(content, pictures) for content, flag in seen)
        if "thread" in body:
            note += "; no history: " + sketch({"thread": body["thread"]}, pictures)
        if case["name"] in LOST:
            note += "; dropped by the client: " + ", ".join(LOST[case["name"]])
        entry = {"file": path.name, "wire": case["wire"], "client": case["package"],
                 "version": version(case["runner"], case["package"]), "variant": case["variant"],
                 "images": wanted, "note": note}
        # A JSON string or list of strings is also a TOML one.
        lines += ["[[capture]]", *(f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in entry.items()), ""]
    (folder / "index.toml").write_text("\n".join(lines))
    print(f"{count} captures in {folder}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["list", "send", "index"])
    parser.add_argument("argument", nargs="?")
    parser.add_argument("--only", default="*")
    parser.add_argument("--except", default="", dest="without")
    parser.add_argument("--base-url", default="")
    a = parser.parse_args()
    if a.what == "list":
        for case in cases(a.only, a.without):
            print(case["runner"], case["name"])
    elif a.what == "send":
        send(a.argument, a.only, a.without, a.base_url)
    else:
        index(pathlib.Path(a.argument))
