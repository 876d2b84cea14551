#!/usr/bin/env python3
"""Writes every wire case (case.toml and in.json or reply.json) and the coverage part of README.md.

    python3 make.py           write
    python3 make.py --check   fail if a file differs from what would be written

Cases live in cases/*.py, files in images/ (written by images/make.py). Needs nothing but Python 3.11.
"""
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

from cases.turns import CASES, IMAGES
from cases import chat, shapes, encodings, responses, anthropic, replies, review, others, dialects  # noqa: F401 (they register cases)

HERE = Path(__file__).parent
WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse", "ollama")
CODES = set("""image_as_text image_in_forbidden_role interleaved_user image_in_error_result wrong_label
malformed_data_url unreadable_image unsupported_type empty_tool_content orphan_tool_result missing_tool_result
image_to_text_only_model image_inside_longer_text image_cut_off small_image_in_text image_in_file tool_results_not_first not_json
image_source_not_accepted empty_text duplicate_call_id
image_address_in_text image_as_file image_over_limit
part_spelling invalid_call_id user_after_tool""".split())
PROFILE = {"placement_image", "sight_images", "consecutive_user", "images"}

# What `covers` names. The numbers stay what they are when a line goes.
COVERS = {
    "edge:1": "one call, one image",
    "edge:2": "parallel calls, an image in the first result only",
    "edge:3": "parallel calls, an image in the last result only",
    "edge:4": "parallel calls, an image in every result",
    "edge:5": "four calls with none to three images each",
    "edge:6": "the same tool called twice in one turn",
    "edge:7": "call ids that repeat in later turns",
    "edge:8": "calls without a result, results without a call",
    "edge:9": "a result of images only: its text must not be empty",
    "edge:10": "a failed result with an image",
    "edge:11": "empty texts, beside an image and alone",
    "edge:12": "hoisted images before what the user says next",
    "edge:13": "hoisted images as the last message",
    "edge:14": "templates that want an assistant turn between tool and user",
    "edge:15": "templates that want user and assistant in turns: users are merged",
    "edge:16": "an image in an assistant message",
    "edge:17": "an image in a system message",
    "edge:18": "thinking, plain and redacted, keeps its bytes whatever is rewritten around it",
    "edge:19": "one wire, two placements: in the result for one model, outside it for another",
    "edge:20": "a history with tool turns in a request that declares no tools",
    "edge:21": "one wire whose placement depends on the version of the model",
    "edge:22": "function_call_output as a string and as a list",
    "edge:23": "bare base64 in a list beside the message",
    "edge:24": "a router that translates the lowered body into yet another wire",
    "edge:25": "lowering what was lowered changes nothing",
    "edge:26": "histories that differ only in who owns an image lower to different bytes",
    "edge:27": "ids, names, labels and documents shaped like instructions never become the user's words",
    "edge:28": "a history, or settings, that another wire produced",
    "edge:29": "to a model without eyes and back: the same bytes as before",
    "edge:30": "another model takes over in the middle of a turn",
    "edge:31": "endpoints of one wire that spell ids, parts and settings in their own way",
    "edge:98": "data URLs with parameters, without a type, in capitals, folded, unpadded, url-safe, nested, percent-encoded",
    "edge:99": "labels such as image/jpg, image/*, none, image/svg+xml",
    "edge:100": "base64 in JSON in a string, in lists, with keys in any order",
    "edge:101": "long base64 that is no image stays text",
    "edge:102": "several pictures within longer texts are all shown",
    "regression:1": "results of parallel calls stay together, the images behind them",
    "regression:2": "results in several messages in a row",
    "regression:3": "a result of images only has a text, and never points at an image that is not shown",
    "regression:4": "a failed result holds text only; its image follows the run",
    "regression:5": "results contiguous where the images are siblings of the results",
    "regression:6": "placement per model: inside the result, beside it, deferred behind a bridge",
    "regression:7": "interleaved, stringified and misplaced images are repaired, and stay so",
    "regression:8": "what is left out stays the same from turn to turn",
    "regression:9": "a placeholder that somebody quotes brings no image back",
    "regression:10": "undecodable, cut, tiny, mislabelled and animated images",
    "regression:11": "a call id with line breaks or instructions never stands in user text",
    "regression:12": "shapes of older SDK versions in stored histories",
    "regression:13": "two names for the bytes, and a PNG without a header",
    "regression:14": "probe: colours in an order the model must report, by each way in",
    "shape:ad-hoc": "JSON of one tool's own making, with base64 under some key",
    "shape:ai-sdk-6": "AI SDK 6: image-data, image-url",
    "shape:ai-sdk-6-file-data": "AI SDK 6: file-data",
    "shape:ai-sdk-7": "AI SDK 7: file with data nested, flat, or spelled as bytes",
    "shape:ai-sdk-media": "AI SDK 4 and 5: media",
    "shape:anthropic-blocks": "Anthropic's image blocks",
    "shape:bare-base64": "base64 as the whole text",
    "shape:chat-parts": "image_url parts of Chat",
    "shape:data-url": "a data URL as the whole text",
    "shape:json-in-json": "JSON in a string of JSON",
    "shape:list": "a list of strings, items and lists",
    "shape:mcp": "an MCP result, or its content list",
    "shape:mcp-resource": "an MCP embedded resource",
    "shape:openwop": "dataBase64 and mimeType",
    "shape:responses-parts": "input_image parts of Responses",
    "shape:text-part": "the JSON in a text part of a list",
}


def quote(value):
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(quote, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {quote(item)}" for key, item in value.items()) + " }"
    return str(value)


def toml(c):
    rows = {
        "title": c["title"], "wire": c["wire"], "model": c["model"], "host": c["host"], "profile": c["profile"],
        "findings": c["findings"], "covers": c["covers"], "sees": c["sees"], "owners": c["owners"],
        "keeps_text": c["keeps"] or None, "never_text": c["never"] or None, "note": c["note"],
    }
    return "".join(f"{key} = {quote(value)}\n" for key, value in rows.items() if value is not None)


def body(c):
    if isinstance(c["body"], str):
        return c["body"]
    written = {
        "js": lambda b: json.dumps(b, separators=(",", ":"), ensure_ascii=False),
        "py": json.dumps,
        "pretty": lambda b: json.dumps(b, indent=2, ensure_ascii=False) + "\n",
    }[c["style"]](c["body"])
    return c["post"](written) if c["post"] else written


def check(c, written):
    """The mistakes a case author makes."""
    name = c["name"]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), name
    assert c["wire"] in WIRES, name
    assert list(c["findings"]) == sorted(c["findings"]) and set(c["findings"]) <= CODES, (name, c["findings"])
    assert set(c["profile"] or {}) <= PROFILE, name
    assert set(c["covers"]) <= COVERS.keys(), (name, c["covers"])
    assert c["sees"] is not None or c["note"], f"{name}: no sees, so say why"
    assert all((IMAGES / image).exists() for image in c["sees"] or []), name
    assert c["owners"] is None or len(c["owners"]) == len(c["sees"]), name
    if "not_json" not in c["findings"]:
        whole = json.dumps(json.loads(written), ensure_ascii=False)
        for kept in c["keeps"]:
            assert json.dumps(kept, ensure_ascii=False)[1:-1] in whole, (name, kept)
    tomllib.loads(toml(c))


def coverage():
    seen = defaultdict(list)
    for c in CASES:
        for cover in c["covers"]:
            seen[cover].append(c["name"])
    lines = ["| covers | about | cases |", "|---|---|---|"]
    for key, says in COVERS.items():
        lines.append(f"| `{key}` | {says} | {', '.join(seen[key]) or '**none**, see *Left out*'} |")
    lines.append("")
    codes = Counter(code for c in CASES for code in set(c["findings"]))
    lines += ["### finding codes", ""] + [f"- `{code}` in {codes[code]} cases" for code in sorted(CODES)] + [""]
    kinds = Counter((c["wire"], "replies" if c["reply"] else "requests") for c in CASES)
    lines += ["### counts", ""] + [f"- {wire} {kind}: {count}" for (wire, kind), count in sorted(kinds.items())]
    return "\n".join(lines) + "\n"


def main():
    names = [c["name"] for c in CASES]
    assert len(set(names)) == len(names), [n for n, k in Counter(names).items() if k > 1]
    files = {}
    for c in CASES:
        written = body(c)
        check(c, written)
        files[HERE / c["name"] / "case.toml"] = toml(c)
        files[HERE / c["name"] / ("reply.json" if c["reply"] else "in.json")] = written
    readme = HERE / "README.md"
    if readme.exists():
        head = readme.read_text().split("<!-- coverage -->")[0]
        files[readme] = head + "<!-- coverage -->\n\n" + coverage()
    stale = [p for p in HERE.glob("*/case.toml") if p not in files]
    differ = [p for p, t in files.items() if not p.exists() or p.read_bytes() != t.encode()]
    if "--check" in sys.argv:
        sys.exit("\n".join(f"differs: {p}" for p in [*differ, *stale]) or 0)
    for path in differ:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(files[path].encode())
    print(f"{len(CASES)} cases, {len(differ)} files written", *(f"stale: {p.parent}" for p in stale), sep="\n")


main()
