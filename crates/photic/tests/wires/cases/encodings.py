"""How the bytes of an image slot are written: data URLs, labels, types, and bytes that are no image."""
from urllib.parse import quote

from .turns import *

C, R, A = "openai-chat", "openai-responses", "anthropic"
PAGE = base64.b64encode(b"<!DOCTYPE html><html><head><title>404 Not Found</title></head><body>gone</body></html>").decode()


def slot(name, wire, title, address, code, sees, covers=(), **more):
    """One image slot of that address in a user turn (on anthropic: of that (label, data))."""
    words = "What is in this picture?"
    body = {
        C: lambda: chat(system("You describe pictures."), user(words, img_url(address, "auto")), tools=None),
        R: lambda: responses(ruser(words, rimg_url(address)), tools=None, instructions="You describe pictures."),
        A: lambda: anthropic(auser(aimg_raw(*address), words), tools=None, system="You describe pictures."),
    }[wire]()
    codes = [code] if isinstance(code, str) else code
    case(name, wire, title, body, findings=sorted(codes), sees=sees, owners=["user"] * len(sees), covers=covers, keeps=[words], **more)


def lines(data, end):
    return end.join(data[i : i + 76] for i in range(0, len(data), 76))


BAD = "malformed_data_url"
RED, JPG, TALL = b64("red.png"), b64("photo.jpg"), b64("tall.png")
assert TALL.endswith("==") and RED.endswith("=") and "/" in JPG

slot("url-params", C, "RFC 2397 parameters between type and base64", f"data:image/png;charset=utf-8;name=shot.png;base64,{RED}", BAD, ["red.png"], ["edge:98"])
slot("url-no-type", C, "no type: data:;base64,", f"data:;base64,{RED}", BAD, ["red.png"], ["edge:98", "edge:99"])
slot("url-uppercase", R, "scheme, type and encoding in capitals", f"DATA:IMAGE/PNG;BASE64,{RED}", BAD, ["red.png"], ["edge:98"])
slot("url-crlf", C, "base64 folded with CRLF (MIME)", "data:image/png;base64," + lines(RED, "\r\n"), BAD, ["red.png"], ["edge:98"])
slot("data-crlf", A, "base64 folded with line feeds in an Anthropic source", ("image/png", lines(RED, "\n") + "\n"), BAD, ["red.png"], ["edge:98"])
slot("url-unpadded", R, "padding left off", "data:image/png;base64," + TALL.rstrip("="), BAD, ["tall.png"], ["edge:98"])
slot("data-unpadded", A, "padding left off in an Anthropic source", ("image/png", RED.rstrip("=")), BAD, ["red.png"], ["edge:98"])
slot("url-short-padding", C, "one padding sign where two belong (the AA= case)", "data:image/png;base64," + TALL[:-1], BAD, ["tall.png"], ["edge:98"])
slot("url-safe-alphabet", R, "base64url alphabet", "data:image/jpeg;base64," + JPG.replace("+", "-").replace("/", "_"), BAD, ["photo.jpg"], ["edge:98"])
slot("url-nested", C, "a data URL inside the data URL", f"data:image/png;base64,data:image/png;base64,{RED}", BAD, ["red.png"], ["edge:98"])
slot("data-prefixed", A, "a data URL where Anthropic wants bare base64", ("image/png", url("red.png")), BAD, ["red.png"], ["edge:98"])
slot("url-percent", C, "base64 percent-encoded", "data:image/png;base64," + quote(RED, safe=""), BAD, ["red.png"], ["edge:98"])
slot("url-jpg-alias", C, "image/jpg for a JPEG", url("photo.jpg", "image/jpg"), BAD, ["photo.jpg"], ["edge:99"])
slot("data-jpg-alias", A, "image/jpg for a JPEG in an Anthropic source", ("image/jpg", JPG), BAD, ["photo.jpg"], ["edge:99"])
slot("url-wildcard", R, "image/* is no type", url("red.png", "image/*"), BAD, ["red.png"], ["edge:99"], note="counts as a missing type, not as a wrong label")
slot("data-empty-type", A, "an empty media_type", ("", RED), BAD, ["red.png"], ["edge:99"])
slot("url-no-comma", C, "no comma: nothing to parse", f"data:image/png;base64{RED}", "unreadable_image", [], ["edge:98"],
     note="the missing comma is a typed error, not repaired")

WRONG = "wrong_label"
slot("label-png-is-jpeg", C, "a JPEG labelled image/png", url("photo.jpg", "image/png"), WRONG, ["photo.jpg"], ["regression:10"])
slot("label-jpeg-is-png", A, "a PNG labelled image/jpeg (macOS screenshots)", ("image/jpeg", RED), WRONG, ["red.png"], ["regression:10"])
slot("label-png-is-webp", R, "a WebP labelled image/png", url("pic.webp", "image/png"), WRONG, ["pic.webp"], ["regression:10"])
slot("label-octet-stream", C, "application/octet-stream for a GIF", url("still.gif", "application/octet-stream"), WRONG, ["still.gif"])
slot("label-svg-is-png", A, "a PNG labelled image/svg+xml", ("image/svg+xml", RED), WRONG, ["red.png"], ["edge:99"])

GONE = "unreadable_image"
slot("bytes-html", C, "an HTML error page labelled image/png", f"data:image/png;base64,{PAGE}", GONE, [], ["regression:10"])
slot("bytes-empty", R, "no bytes at all", "data:image/png;base64,", GONE, [], ["regression:10"])
slot("bytes-empty-anthropic", A, "an empty data field", ("image/png", ""), GONE, [], ["regression:10"])
slot("bytes-text", A, "a source file somebody viewed as image", ("image/png", base64.b64encode(b"import React from 'react';\nexport const App = () => <div/>;\n").decode()), GONE, [], ["regression:10"])
slot("bytes-signature-only", C, "openwop's eight byte PNG: a signature without header", url("sig8.png"), GONE, [], ["regression:10", "regression:13"])
slot("bytes-truncated", R, "a PNG whose pixels are cut: the header is sound, so the core lets it pass", url("truncated.png"), [], ["truncated.png"], ["regression:10"],
     note="headers only in the pure core; photic-pixels finds it")
slot("bytes-stub", A, "the 69 byte PNG of one pixel: valid", ("image/png", b64("stub69.png")), [], ["stub69.png"], ["regression:10"])
slot("bytes-tall", R, "one pixel wide, 301 high: valid", url("tall.png"), [], ["tall.png"], ["regression:10"])

KIND = "unsupported_type"
slot("type-bmp", C, "a BMP, rightly labelled", url("pic.bmp"), KIND, [], note="photic-pixels can transcode it; the pure core gives a notice")
slot("type-bmp-as-png", R, "a BMP labelled image/png: relabelling alone is no repair", url("pic.bmp", "image/png"), [KIND, WRONG], [])
slot("type-tiff", A, "a TIFF, rightly labelled", ("image/tiff", b64("pic.tiff")), KIND, [])
slot("type-svg", A, "an SVG from an MCP server", ("image/svg+xml", b64("pic.svg")), KIND, [], ["edge:99"])
slot("type-svg-percent", C, "an SVG as percent-encoded text, not base64", "data:image/svg+xml," + quote(raw("pic.svg").decode()), [BAD, KIND], [], ["edge:98", "edge:99"])

case("type-animated-gif", A, "an animated GIF: Anthropic shows its first frame",
     anthropic(auser("What moves?", aimg("anim.gif")), tools=None), findings=[], covers=["regression:10"],
     note="no sees: OpenAI takes only still GIFs, so the other wires may get a notice instead")
