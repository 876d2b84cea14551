#!/usr/bin/env python3
"""Writes shapes.json and lookalikes.json: texts of tools with a picture in them, and texts that only
look like that. `python3 make.py --check` says whether the files are what this script writes.

A shape says what must become of it: `lifted` (all its pictures are shown), or `reported` (it stays to
the byte, and a finding says that it does). A look-alike stays to the byte.
"""
import base64
import hashlib
import json
import random
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[3] / "tests"))
import pictures  # noqa: E402


def png(width, height, seed=1, noise=False):
    draw = random.Random(seed)
    rows = b""
    for y in range(height):
        if noise:
            rows += b"\0" + bytes(draw.getrandbits(8) for _ in range(width * 3))
        else:
            rows += b"\0" + bytes([(seed * 37 + y // 20 * 40) % 256, seed * 91 % 256, y * 3 % 256]) * width
    return pictures.png(width, height, rows)


def b64(data):
    return base64.b64encode(data).decode()


RAW = png(320, 200)
P = b64(RAW)
URL = "data:image/png;base64," + P
OTHER = b64(png(300, 180, 2))
ICON = b64(png(16, 16, 3, noise=True))
ICON_URL = "data:image/png;base64," + ICON
LINES = textwrap.wrap(P, 76)
J = json.dumps
MCP = {"type": "image", "data": P, "mimeType": "image/png"}

SHAPES = []


def shape(name, text, pictures=1, becomes="lifted"):
    SHAPES.append({"name": name, "becomes": becomes, "pictures": pictures if becomes == "lifted" else 0, "text": text})


def cut(name, text):
    shape(name, text, becomes="reported")


shape("mcp result", J({"content": [MCP], "isError": False}))
shape("mcp list with text", J([{"type": "text", "text": "Screenshot taken"}, MCP]))
shape("mcp structured content", J({"content": [{"type": "text", "text": "{\"a\":1}"}, MCP], "structuredContent": {"a": 1}}))
shape("mcp error", J({"content": [{"type": "text", "text": "failed"}, MCP], "isError": True}))
shape("mcp resource blob", J({"content": [{"type": "resource", "resource": {"uri": "file:///a.png", "mimeType": "image/png", "blob": P}}]}))
shape("mcp resource link and image", J([{"type": "resource_link", "uri": "file:///x", "name": "x"}, MCP]))
shape("mcp in a JSON-RPC envelope", J({"jsonrpc": "2.0", "id": 1, "result": {"content": [MCP]}}))
shape("anthropic blocks", J([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": P}}]))
shape("chat parts", J([{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": URL}}]))
shape("responses parts", J([{"type": "input_image", "image_url": URL}]))
shape("gemini inlineData", J({"parts": [{"inlineData": {"mimeType": "image/png", "data": P}}]}))
shape("ai sdk media", J([{"type": "media", "data": P, "mediaType": "image/png"}]))
shape("ai sdk 6 file", J([{"type": "file", "data": P, "mediaType": "image/png"}]))
shape("ai sdk 7 file with nested data", J([{"type": "file", "mediaType": "image/png", "data": {"type": "data", "data": P}}]))
shape("langchain v1 image block", J([{"type": "image", "base64": P, "mime_type": "image/png"}]))
shape("langchain message repr", "content=[{'type': 'image_url', 'image_url': {'url': '%s'}}] artifact=None" % URL)
shape("python repr of a list", repr([MCP]))
shape("python repr of ImageContent", "[ImageContent(type='image', data='%s', mimeType='image/png', annotations=None)]" % P)
shape("python repr of a dict", repr({"url": "https://x", "screenshot": P}))
cut("python repr of bytes, cut", repr(RAW[:200]))
shape("markdown after words", "Here is the page:\n\n![screenshot](%s)\n" % URL)
shape("markdown alone", "![screenshot](%s)" % URL)
shape("html img", '<img src="%s" alt="x"/>' % URL)
shape("json in a string", J(J([MCP])))
shape("json in a string in a string", J(J(J([MCP]))))
shape("json under a key of json", J({"result": J({"content": [MCP]})}))
shape("pretty json", json.dumps({"screenshot": P, "ok": True}, indent=2))
shape("bare base64", P)
shape("bare base64 in lines", "\n".join(LINES))
shape("bare base64 in lines with returns", "\r\n".join(LINES) + "\r\n")
shape("lines of base64 in json", J({"image": "\n".join(LINES)}))
shape("url-safe base64", base64.urlsafe_b64encode(RAW).decode())
shape("url-safe base64 without padding in json", J({"image": base64.urlsafe_b64encode(RAW).decode().rstrip("=")}))
shape("key screenshot", J({"screenshot": P}))
shape("key b64_json", J({"created": 1, "data": [{"b64_json": P}]}))
shape("key base64_image", J({"output": "ok", "error": None, "base64_image": P, "system": None}))
shape("python repr of ToolResult", "ToolResult(output='ok', error=None, base64_image='%s', system=None)" % P)
shape("notebook output", J({"output_type": "display_data", "data": {"image/png": P + "\n", "text/plain": ["<Figure size 640x480>"]}, "metadata": {}}))
shape("notebook output as a list of lines", J({"output_type": "display_data", "data": {"image/png": [line + "\n" for line in LINES]}}))
shape("notebook", J({"cells": [{"cell_type": "code", "outputs": [{"output_type": "display_data", "data": {"image/png": P}}], "source": ["x"]}], "nbformat": 4}))
shape("node buffer", J({"type": "Buffer", "data": list(RAW)}))
shape("node buffer under a key", J({"screenshot": {"type": "Buffer", "data": list(RAW)}}))
shape("uint8array", J({str(i): byte for i, byte in enumerate(RAW)}))
shape("list of bytes under a key", J({"image": list(RAW)}))
shape("mcp image with a list of bytes", J([{"type": "image", "data": list(RAW), "mimeType": "image/png"}]))
shape("bedrock bytes", J([{"image": {"format": "png", "source": {"bytes": P}}}]))
shape("aws bytes as an object", J([{"image": {"format": "png", "source": {"bytes": {str(i): byte for i, byte in enumerate(RAW)}}}}]))
shape("json in a fence", "### Result\nTook screenshot\n```json\n" + J({"type": "image", "data": P}) + "\n```")
shape("base64 after words", "Screenshot: " + P)
shape("json after words", "Tool output: " + J({"content": [MCP]}))
shape("base64 in a tag", "<screenshot>%s</screenshot>" % P)
shape("data url in a tag", "<image>%s</image>" % URL)
cut("bare base64, cut", P[:900])
cut("data url, cut", URL[:900])
cut("json, cut", J({"screenshot": P})[:900])
cut("base64, cut with a note", P[:900] + "... [truncated]")
shape("hexadecimal", RAW.hex())
shape("base64: prefix", "base64:" + P)
shape("base64, prefix", "base64," + P)
shape("data url without data:", "image/png;base64," + P)
shape("data url in capitals with a charset", "data:image/PNG;charset=utf-8;base64," + P)
shape("data url as a json string", '"%s"' % URL)
shape("json lines", J({"shot": P}) + "\n" + J({"shot": OTHER}), 2)
shape("list of data urls", J([URL, "data:image/png;base64," + OTHER]), 2)
shape("action result", J({"is_done": False, "extracted_content": "x", "include_in_memory": True, "images": [{"name": "a", "data": P}]}))
shape("browser state", J({"url": "x", "elements": [1, 2], "screenshot": P, "screenshot_b64": OTHER}), 2)
shape("python repr of a tuple", repr(("ok", URL)))
shape("yaml", 'screenshot: "%s"\nurl: x\n' % URL)
shape("mcp image with members of its own", J([{**MCP, "width": 320, "height": 200}]))
shape("mcp image without a type of bytes", J([{"type": "image", "data": P}]))
shape("image object", J({"image": {"data": P, "mime": "image/png"}}))
shape("encoding and data", J({"encoding": "base64", "data": P}))
shape("ai sdk value", J({"type": "content", "value": [{"type": "image-data", "data": P, "mediaType": "image/png"}]}))
shape("ai sdk json value", J({"type": "json", "value": {"screenshot": P}}))
shape("json with a trailing comma", '[{"type":"image","data":"%s","mimeType":"image/png"},]' % P)
shape("json with escaped slashes", J([MCP]).replace("/", "\\/"))
shape("data url with percent signs", "data:image/png;base64," + P.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"))
shape("inline image of a terminal", "\x1b]1337;File=inline=1:%s\x07" % P)
shape("two blocks with a blank line", P + "\n\n" + OTHER, 2)
shape("row of csv", "id,img\n1,%s\n" % URL)
# Beyond the eighty that were counted first.
shape("lines of base64 after words", "The plot:\n" + "\n".join(LINES) + "\nDone.\n")
shape("escaped slashes after words", "Result: " + J({"data": P}).replace("/", "\\/"))
shape("yaml block", "screenshot: |\n" + "\n".join("  " + line for line in LINES) + "\nurl: x\n")
shape("words in json with a data url", J({"stdout": "plot saved\n" + URL + "\n", "code": 0}))
shape("json in json with words before it", J({"result": "Output: " + J({"image": P})}))
shape("percent signs in a query", "open https://x/?img=data:image/png;base64," + P.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D") + " now")
shape("three in a row", "a %s b %s c %s d" % (URL, "data:image/png;base64," + OTHER, URL), 3)

LOOKALIKES = []


def alike(name, text, reported=False, tool="shot", arguments="{}"):
    LOOKALIKES.append({"name": name, "reported": reported, "tool": tool, "arguments": arguments, "text": text})


def noise(length, seed):
    draw = random.Random(seed)
    return bytes(draw.getrandbits(8) for _ in range(length))


JWT = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=")
               for part in (b'{"alg":"RS256","typ":"JWT"}', b'{"sub":"1234567890","name":"Ada","iat":1516239022}' * 4, noise(256, 1)))
PEM = "-----BEGIN CERTIFICATE-----\n" + "\n".join(textwrap.wrap(b64(noise(900, 2)), 64)) + "\n-----END CERTIFICATE-----\n"
CSS = ".logo{background:url(%s) no-repeat;width:320px}" % URL
ZIP = b"PK\x03\x04" + noise(900, 9)
WOFF = b"wOF2" + noise(1500, 10)
MANIFEST = json.dumps({"name": "Ext", "version": "1.0.0", "icons": {"16": ICON_URL}}, indent=2)

alike("jwt", JWT)
alike("jwt in a header", "Authorization: Bearer " + JWT)
alike("jwt in json", J({"access_token": JWT, "expires_in": 3600}))
alike("pem certificate", PEM)
alike("pem chain", PEM + PEM)
alike("pem in json", J({"cert": PEM}))
alike("ssh key", "ssh-rsa AAAAB3NzaC1yc2E" + b64(noise(390, 3)) + " ada@example.org")
alike("pgp message", "-----BEGIN PGP MESSAGE-----\n\n" + "\n".join(textwrap.wrap(b64(noise(700, 4)), 64)) + "\n=abcd\n-----END PGP MESSAGE-----")
for kind in ("md5", "sha1", "sha256", "sha512"):
    alike(kind + " sums", "\n".join(f"{hashlib.new(kind, bytes([i])).hexdigest()}  file{i}.png" for i in range(12)))
alike("git log", "\n".join(f"commit {hashlib.sha1(bytes([i])).hexdigest()}\nAuthor: Ada <ada@example.org>\n\n    image {i}\n" for i in range(6)))
alike("integrity of a lock file", J({"integrity": "sha512-" + b64(hashlib.sha512(b"x").digest()), "resolved": "https://example.org/png-1.0.0.tgz"}))
alike("uuids", "\n".join(str(__import__("uuid").UUID(int=i * 7919, version=4)) for i in range(20)))
alike("long base64 of nothing", b64(noise(2400, 5)))
alike("long base64 under a promising key", J({"screenshot": b64(noise(2400, 6)), "ok": False}))
alike("base64 that begins like a bitmap", "Qk" + b64(noise(900, 7)))
alike("base64 that begins with zeros", "AAAA" + b64(noise(900, 8)))
alike("zip", b64(ZIP))
alike("zip data url", "data:application/zip;base64," + b64(ZIP))
alike("font data url", "data:font/woff2;base64," + b64(WOFF))
alike("style sheet with a font", "@font-face{font-family:a;src:url(data:font/woff2;base64,%s) format('woff2')}" % b64(WOFF))
alike("pdf data url", "data:application/pdf;base64," + b64(b"%PDF-1.7\n" + noise(900, 11)))
alike("gzip", b64(b"\x1f\x8b\x08" + noise(700, 12)))
alike("wasm", b64(b"\0asm\x01\0\0\0" + noise(700, 13)))
alike("protobuf", b64(b"\x0a\x05hello" + noise(700, 14)))
alike("hex dump", "\n".join(f"{i:08x}  " + noise(16, i).hex(" ") for i in range(0, 40)))
alike("hexadecimal of nothing", noise(700, 15).hex())
alike("bytes of nothing", J({"embedding": list(noise(700, 16))}))
alike("numbers", J({"vector": [round(i * 0.37 % 1, 6) for i in range(400)]}))
alike("buffer of text", J({"type": "Buffer", "data": list("hello, this is some text in a buffer ".encode() * 8)}))
alike("object with numbers as keys", J({str(i): i % 7 for i in range(300)}))
alike("path that begins like a jpeg", "/9j/shared/reports/2024/q3/summary/final/and/some/more/of/it/to/be/long.txt")
alike("words about magic numbers", "/9j/ is how the base64 of every JPEG starts; iVBORw0KGgo is how a PNG starts, R0lGODlh a GIF.")
alike("signature alone", "iVBORw0KGgo=")
alike("head of a data url", "write data:image/png;base64,iVBORw0KGgo and so on")
alike("svg", '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"><rect width="80" height="80" fill="#123"/></svg>')
alike("svg data url", "data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='80' height='80'/>")
alike("svg data url in base64", "data:image/svg+xml;base64," + b64(b'<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"><rect/></svg>' * 3), reported=True)
alike("minified script", "!function(e,t){\"use strict\";var n={};function r(e){return n[e]||(n[e]={exports:{}})}" * 12 + "}(window,document);")
alike("source map", J({"version": 3, "sources": ["a.js"], "mappings": "AAAA,SAASA,EAAEC,GAAGD,EAAEC,EAAE" * 40}))
alike("mangled names", "_ZN4core3fmt9Formatter3new17h" + noise(60, 17).hex())
alike("dna", "ACGT" * 400)
alike("one letter", "A" * 4000)
alike("words without spaces", "loremipsumdolorsitametconsecteturadipiscingelit" * 30)
alike("prose", "The agent looked at the screen and decided which button to press next. " * 40)
alike("cookie", "Set-Cookie: session=" + base64.urlsafe_b64encode(noise(600, 18)).decode() + "; Path=/; HttpOnly")
alike("saml", "SAMLResponse=" + b64(b"<samlp:Response xmlns:samlp='urn:oasis'>" * 20))
alike("log with ids", "\n".join(f"2026-11-17T18:00:{i:02d}Z INFO upload id={hashlib.sha256(bytes([i])).hexdigest()} type=image/png" for i in range(20)))
# Cut off: no picture any more.
alike("cut at 16000 characters", b64(png(200, 120, 4, noise=True))[:16000], reported=True)
alike("example of an API description", J({"openapi": "3.1.0", "components": {"schemas": {"Image": {"type": "string", "format": "byte", "example": "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4"}}}}), reported=True)
alike("cut data url in markdown", "![shot](" + URL[:700] + "...)", reported=True)
alike("cut in html", '<img src="' + URL[:700] + '…">', reported=True)
alike("cut in a list of parts", J([{"type": "image", "data": P[:800], "mimeType": "image/png"}]), reported=True)
alike("cut in lines", "\n".join(LINES[:8]), reported=True)
alike("cut list of lines", J({"image/png": [line + "\n" for line in LINES[:6]]}), reported=True)
alike("cut hexadecimal", RAW.hex()[:900], reported=True)
alike("cut buffer", J({"type": "Buffer", "data": list(RAW[:300])}), reported=True)
alike("middle missing", P[:500] + P[900:], reported=True)
alike("first and last characters", "first 100: " + P[:100] + " last 20: " + P[-20:], reported=True)
# Icons in files and pages.
alike("manifest with an icon", MANIFEST, reported=True)
alike("manifest with an icon, read as a file", MANIFEST, reported=True, tool="read_file", arguments='{"path":"manifest.json"}')
alike("web manifest with a typed icon", J({"icons": [{"src": ICON_URL, "sizes": "16x16", "type": "image/png"}]}), reported=True)
alike("html with a favicon", '<link rel="icon" href="%s"><h1>Hi</h1>' % ICON_URL, reported=True)
alike("bare icon in json", J({"title": "x", "favicon": ICON}), reported=True)
alike("markdown with a badge", "# Title\n![build](%s) ok" % ICON_URL, reported=True)
# Files that an agent reads, with a large picture.
NOTEBOOK = J({"cells": [{"cell_type": "code", "outputs": [{"data": {"image/png": P}}], "source": ["x"]}], "nbformat": 4})
alike("notebook, read as a file", NOTEBOOK, reported=True, tool="read_file", arguments='{"path":"a.ipynb"}')
alike("page, read as a file", '<img src="%s">' % URL, reported=True, tool="Read", arguments='{"file_path":"/w/index.html"}')
alike("json, printed by a command", J({"icons": {"128": URL}}), reported=True, tool="bash", arguments='{"command":"cat manifest.json"}')
alike("numbered lines", "     1\t{\n     2\t  \"icon\": \"%s\"\n     3\t}\n" % URL, reported=True)
alike("numbered lines with arrows", "     1→{\n     2→  \"icon\": \"%s\"\n     3→}\n" % URL, reported=True)
alike("line found by grep", "src/logo.ts:3:  icon: \"%s\"," % URL, reported=True)
alike("diff", "diff --git a/m.json b/m.json\n@@ -1,2 +1,2 @@\n-  \"icon\": \"%s\"\n+  \"icon\": \"\"\n" % URL, reported=True)
# Source code and style sheets with a large picture.
alike("style sheet", CSS, reported=True)
alike("style sheet with quotes", '.a {\n  background-image: url("%s");\n}\n' % URL, reported=True)
alike("script constant", 'const LOGO = "%s";\nexport default LOGO;\n' % URL, reported=True)
alike("python constant", 'LOGO = "%s"\n' % P, reported=True)
alike("rust constant", 'pub const LOGO: &str = "%s";\n' % P, reported=True)
alike("bundle", '(()=>{var e={12:e=>{e.exports="%s"}}})();' % URL, reported=True)
alike("decoded in code", 'image = Image.open(BytesIO(b64decode("%s")))\n' % P, reported=True)
alike("script of a page", '<script>document.body.innerHTML="<img src=\'%s\'>";</script>' % URL, reported=True)
alike("glued to a word", "screenshot/" + P, reported=True)
# What people paste; only as their own words.
alike("json of a user", J({"id": 7, "avatar": "hero.png", "note": "see the picture", "type": "image"}))


def main():
    files = {"shapes.json": SHAPES, "lookalikes.json": LOOKALIKES}
    stale = False
    for name, entries in files.items():
        assert len({entry["name"] for entry in entries}) == len(entries), name
        text = "[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n"
        path = HERE / name
        if "--check" in sys.argv:
            stale |= not path.exists() or path.read_text() != text
        else:
            path.write_text(text)
        print(f"{name}: {len(entries)}")
    sys.exit(stale)


main()
