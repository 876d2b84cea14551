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
from cases import chat, shapes, encodings, responses, anthropic, replies  # noqa: F401 (they register cases)

HERE = Path(__file__).parent
CODES = set("""image_as_text image_in_forbidden_role interleaved_user image_in_error_result wrong_label
malformed_data_url unreadable_image unsupported_type empty_tool_content orphan_tool_result missing_tool_result
image_to_text_only_model image_inside_longer_text tool_results_not_first not_json
image_source_not_accepted empty_text duplicate_call_id
image_address_in_text image_as_file""".split())
PROFILE = {"placement_image", "sight_images", "consecutive_user", "images"}
EDGES = [*range(1, 31), *range(98, 103)]


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
        "title": c["title"], "wire": c["wire"], "model": c["model"], "profile": c["profile"],
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
    assert c["wire"] in ("openai-chat", "openai-responses", "anthropic"), name
    assert list(c["findings"]) == sorted(c["findings"]) and set(c["findings"]) <= CODES, (name, c["findings"])
    assert set(c["profile"] or {}) <= PROFILE, name
    assert all(re.fullmatch(r"(edge|peers):\d+|shape:[a-z0-9-]+", cover) for cover in c["covers"]), (name, c["covers"])
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
    lines = []
    for prefix, wanted, source in (("edge", EDGES, "pains §5"), ("peers", range(1, 15), "peers §6")):
        lines += [f"### {source}", ""]
        for number in wanted:
            names = seen.pop(f"{prefix}:{number}", [])
            lines.append(f"- `{prefix}:{number}` " + (", ".join(names) or "**none** (see *Left out*)"))
        lines.append("")
    lines += ["### more", ""] + [f"- `{key}` {', '.join(seen[key])}" for key in sorted(seen)] + [""]
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
