#!/usr/bin/env python3
"""Writes the hostile corpus and `expect.toml` beside this script.

Run it to change the corpus, then commit what it wrote: tests read the files, not the script. `--check` compares them
with what would be written.
Needs Pillow for the few files that start as honest pictures. Nothing here is random.

A verdict is a refusal code, or `opens` for files that are odd but harmless.
"""

import gzip
import io
import struct
import sys
import zlib
from pathlib import Path

from PIL import Image, ImageCms

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tests"))
import pictures  # noqa: E402
from generated import write_or_check  # noqa: E402

EXPECT, FILES = {}, {}


def put(name, data, verdict):
    assert name not in EXPECT, name
    EXPECT[name] = verdict
    FILES[HERE / name] = data


# ---------------------------------------------------------------- honest pictures

def picture(size=(64, 48), mode="RGB"):
    """A gradient with a few edges; enough that every codec has something to say."""
    w, h = size
    img = Image.new("RGB", size)
    img.putdata([((x * 255) // w, (y * 255) // h, 255 if (x // 8 + y // 8) % 2 else 0)
                 for y in range(h) for x in range(w)])
    return img.convert(mode)


def saved(img, kind, **more):
    out = io.BytesIO()
    img.save(out, kind, **more)
    return out.getvalue()


# ---------------------------------------------------------------- PNG pieces

SIGN, IEND = pictures.SIGNATURE, pictures.END
chunk, ihdr, idat = pictures.chunk, pictures.header, pictures.data


def zeros(count):
    """`count` zero bytes, deflated without ever holding them."""
    pack = zlib.compressobj(9)
    out, block = [], bytes(1 << 20)
    while count > 0:
        out.append(pack.compress(block[:min(count, len(block))]))
        count -= len(block)
    return b"".join(out) + pack.flush()


def small(extra=b"", w=10, h=10, after=b""):
    """A good small RGB picture with chunks put in front of its pixels."""
    raw = b"".join(b"\0" + bytes([x * 20, y * 20, 90][i] for x in range(w) for i in range(3))
                   for y in range(h))
    return SIGN + ihdr(w, h) + extra + idat(raw) + IEND + after


def png_files():
    put("png-40000-square.png",
        SIGN + ihdr(40000, 40000, 1, 0) + chunk(b"IDAT", zeros(40000 * 5001)) + IEND, "too_large")
    put("png-huge-header-tiny-data.png", SIGN + ihdr(60000, 60000) + idat(b"\0" * 300) + IEND,
        "too_large")
    put("png-largest-header.png", SIGN + ihdr(2**31 - 1, 2**31 - 1, 16, 6) + idat(b"\0") + IEND,
        "too_large")
    put("png-one-endless-row.png", SIGN + ihdr(2**31 - 1, 1, 16, 6) + idat(b"\0") + IEND,
        "too_large")
    put("png-one-endless-column.png", SIGN + ihdr(1, 2**31 - 1, 1, 0) + idat(b"\0") + IEND,
        "too_large")
    put("png-7000-lie.png", SIGN + ihdr(7000, 7000) + idat(b"\0" * 21001) + IEND, "corrupt")
    put("png-16-bit-7000-lie.png", SIGN + ihdr(7000, 7000, 16, 6) + idat(b"\0" * 56001) + IEND,
        "corrupt")
    put("png-adam7-30000-square.png", SIGN + ihdr(30000, 30000, 8, 6, 1) + idat(b"\0") + IEND,
        "too_large")
    put("png-adam7-7000-lie.png", SIGN + ihdr(7000, 7000, 8, 6, 1) + idat(b"\0" * 900) + IEND,
        "corrupt")
    adam = saved(picture(), "PNG")
    put("png-adam7-cut.png", adam[:28] + b"\1" + struct.pack(">I", zlib.crc32(adam[12:28] + b"\1"))
        + adam[33:200], "corrupt")
    put("png-data-bomb.png",
        SIGN + ihdr(10, 10) + chunk(b"IDAT", zeros(50 << 20)) + IEND, "opens")
    put("png-profile-bomb.png", small(chunk(b"iCCP", b"p\0\0" + zeros(200 << 20))), "opens")
    put("png-text-bomb.png", small(chunk(b"zTXt", b"Comment\0\0" + zeros(64 << 20))), "opens")
    put("png-itext-bomb.png",
        small(chunk(b"iTXt", b"Comment\0\1\0\0\0" + zeros(64 << 20))), "opens")
    put("png-profile-garbage.png", small(chunk(b"iCCP", b"p\0\0" + zlib.compress(b"\xaa" * 999))),
        "opens")
    put("png-profile-not-deflate.png", small(chunk(b"iCCP", b"p\0\0not deflate at all")), "opens")
    put("png-30000-chunks.png", small(chunk(b"teSt") * 30000), "opens")
    good = saved(picture(), "PNG")
    put("png-cut-in-half.png", good[:len(good) // 2], "corrupt")
    put("png-cut-in-header.png", good[:20], "corrupt")
    put("png-signature-only.png", SIGN, "corrupt")
    put("png-header-only.png", SIGN + ihdr(10, 10), "corrupt")
    put("png-no-data.png", SIGN + ihdr(10, 10) + IEND, "corrupt")
    put("png-empty-data.png", SIGN + ihdr(10, 10) + chunk(b"IDAT") + IEND, "corrupt")
    put("png-no-end.png", good[:-12], "opens")
    put("png-zero-width.png", SIGN + ihdr(0, 10) + idat(b"\0" * 10) + IEND, "corrupt")
    put("png-color-type-5.png", SIGN + ihdr(10, 10, 8, 5) + idat(b"\0" * 310) + IEND, "corrupt")
    put("png-three-bits.png", SIGN + ihdr(10, 10, 3, 0) + idat(b"\0" * 310) + IEND, "corrupt")
    put("png-no-palette.png", SIGN + ihdr(10, 10, 8, 3) + idat(b"\0" * 110) + IEND, "corrupt")
    put("png-index-past-palette.png", SIGN + ihdr(4, 4, 8, 3) + chunk(b"PLTE", b"\x10\x20\x30")
        + idat(b"\0\0\1\2\xff" * 4) + IEND, "opens")
    put("png-bad-filter.png", SIGN + ihdr(10, 10) + idat((b"\x09" + b"\0" * 30) * 10) + IEND,
        "corrupt")
    bad = SIGN + ihdr(10, 10) + chunk(b"IDAT", zlib.compress(b"\0" * 310), 1) + IEND
    put("png-bad-data-sum.png", bad, "opens")
    put("png-bad-text-sum.png", small(chunk(b"tEXt", b"Comment\0hi", 1)), "opens")
    put("png-bad-header-sum.png", SIGN + ihdr(10, 10)[:-4] + b"\0\0\0\0" + idat(b"\0" * 310) + IEND,
        "corrupt")
    put("png-data-not-deflate.png", SIGN + ihdr(10, 10) + chunk(b"IDAT", b"\xff" * 40) + IEND,
        "corrupt")
    put("png-two-headers.png", SIGN + ihdr(10, 10) + ihdr(9000, 9000) + idat(b"\0" * 310) + IEND,
        "too_large")
    put("png-chunk-past-end.png", SIGN + ihdr(10, 10) + b"\x7f\xff\xff\xffIDAT" + b"\0" * 30,
        "corrupt")
    stub = SIGN + ihdr(1, 1, 8, 6) + chunk(b"IDAT", zlib.compress(b"\0" * 5)) + IEND
    put("png-stub.png", stub, "opens")
    put("png-exif-malformed.png", small(chunk(b"eXIf", b"MM\0\x2a\xff\xff\xff\xff" + b"\1" * 9)),
        "opens")
    put("png-apple-private.png", SIGN + chunk(b"CgBI", b"\x50\0\x20\2") + ihdr(10, 10, 8, 6)
        + chunk(b"IDAT", zlib.compress(b"\0" * 410)[2:-4]) + IEND, "unsupported_format")
    put("apng-million-frames.png", small(chunk(b"acTL", struct.pack(">II", 1_000_000, 0))),
        "too_large")
    control = struct.pack(">IIIIIHHBB", 0, 10, 10, 0, 0, 1, 10, 0, 0)
    late = struct.pack(">IIIIIHHBB", 1, 4000, 4000, 9, 9, 1, 10, 0, 0)
    put("apng-frame-off-canvas.png",
        small(chunk(b"acTL", struct.pack(">II", 2, 0)) + chunk(b"fcTL", control))[:-12]
        + chunk(b"fcTL", late) + chunk(b"fdAT", struct.pack(">I", 2) + zlib.compress(b"\0" * 99))
        + IEND, "opens")
    put("polyglot-png-zip.png", small(after=b"PK\5\6" + b"\0" * 18), "opens")
    put("polyglot-png-html.png",
        small(chunk(b"tEXt", b"Comment\0<html><script>alert(1)</script></html>")), "opens")


# ---------------------------------------------------------------- JPEG

def segment(marker, body):
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(body) + 2) + body


def resized(jpeg, w, h):
    """The same file with another size in its frame segment."""
    for marker in (b"\xff\xc0", b"\xff\xc2"):
        at = jpeg.find(marker)
        if at > 0:
            return jpeg[:at + 5] + struct.pack(">HH", h, w) + jpeg[at + 9:]
    raise ValueError


def remarked(jpeg, marker):
    at = max(jpeg.find(b"\xff\xc0"), jpeg.find(b"\xff\xc2"))
    return jpeg[:at + 1] + bytes([marker]) + jpeg[at + 2:]


def exif(body):
    return segment(0xe1, b"Exif\0\0" + body)


def jpeg_files():
    good = saved(picture(), "JPEG", quality=80)
    slow = saved(picture(), "JPEG", quality=80, progressive=True)
    put("jpeg-65535-square.jpg", resized(good, 65535, 65535), "too_large")
    put("jpeg-65535-square-progressive.jpg", resized(slow, 65535, 65535), "too_large")
    put("jpeg-7900-lie.jpg", resized(good, 7900, 7900), "corrupt")
    put("jpeg-7900-lie-progressive.jpg", resized(slow, 7900, 7900), "corrupt")
    put("jpeg-65500-by-900-lie.jpg", resized(good, 65500, 900), "corrupt")
    put("jpeg-arithmetic-65535-square.jpg", remarked(resized(good, 65535, 65535), 0xc9),
        "too_large")
    put("jpeg-arithmetic-7900-lie.jpg", remarked(resized(good, 7900, 7900), 0xc9), "corrupt")
    put("jpeg-12-bit.jpg", good.replace(b"\xff\xc0\0\x11\x08", b"\xff\xc1\0\x11\x0c"),
        "unsupported_format")
    # Many scans: the same refinement of all coefficients over and over, a few bytes each.
    sos = slow.find(b"\xff\xda")
    last = slow.rfind(b"\xff\xda")
    put("jpeg-10000-scans.jpg", resized(slow[:-2] + slow[last:last + 14] * 10000 + b"\xff\xd9",
                                        640, 480), "too_large")
    blocks = slow[sos:last]
    put("jpeg-90-scans-of-4000-square.jpg",
        resized(slow[:-2] + blocks * 90 + b"\xff\xd9", 4000, 4000), "too_large")
    put("jpeg-cut-in-half.jpg", good[:len(good) * 3 // 4], "corrupt")
    put("jpeg-cut-in-tables.jpg", good[:100], "corrupt")
    put("jpeg-cut-after-scan-header.jpg", good[:good.find(b"\xff\xda") + 14], "corrupt")
    put("jpeg-progressive-cut.jpg", slow[:sos + 20], "corrupt")
    put("jpeg-no-end.jpg", good[:-2], "opens")
    put("jpeg-start-only.jpg", b"\xff\xd8\xff", "corrupt")
    put("jpeg-start-and-end.jpg", b"\xff\xd8\xff\xd9", "corrupt")
    put("jpeg-no-frame.jpg", good[:good.find(b"\xff\xc0")] + good[good.find(b"\xff\xda"):],
        "corrupt")
    put("jpeg-zero-height.jpg", resized(good, 64, 0), "corrupt")
    put("jpeg-nine-components.jpg",
        good.replace(b"\xff\xc0\0\x11\x08\0\x30\0\x40\x03", b"\xff\xc0\0\x11\x08\0\x30\0\x40\x09"),
        "corrupt")
    at = good.find(b"\xff\xc4")
    put("jpeg-bad-huffman.jpg", good[:at + 5] + b"\xff" * 16 + good[at + 21:], "corrupt")
    put("jpeg-segment-past-end.jpg", good[:2] + b"\xff\xe1\xff\xff" + good[2:40], "corrupt")
    put("jpeg-segment-too-short.jpg", good[:2] + b"\xff\xe1\0\1" + good[2:], "corrupt")
    put("jpeg-4000-segments.jpg", good[:2] + segment(0xfe, b"hi") * 4000 + good[2:], "opens")
    put("jpeg-9000-segments.jpg", good[:2] + segment(0xfe, b"hi") * 9000 + good[2:], "corrupt")
    put("jpeg-profile-garbage.jpg",
        good[:2] + segment(0xe2, b"ICC_PROFILE\0\1\1" + b"\xaa" * 600) + good[2:], "opens")
    put("jpeg-profile-pieces.jpg",
        good[:2] + segment(0xe2, b"ICC_PROFILE\0\7\2" + b"\xaa" * 600)
        + segment(0xe2, b"ICC_PROFILE\0") + good[2:], "opens")
    put("jpeg-exif-offset-past-end.jpg",
        good[:2] + exif(b"II\x2a\0\xff\xff\xff\x7f") + good[2:], "opens")
    put("jpeg-exif-65535-entries.jpg",
        good[:2] + exif(b"MM\0\x2a\0\0\0\x08\xff\xff" + b"\1\x12\0\3\0\0\0\1\0\x63\0\0" * 3)
        + good[2:], "opens")
    put("jpeg-exif-orientation-99.jpg",
        good[:2] + exif(b"MM\0\x2a\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\x63\0\0\0\0\0\0") + good[2:],
        "opens")
    put("jpeg-exif-cut.jpg", good[:2] + exif(b"MM\0") + good[2:], "opens")
    put("jpeg-exif-not-tiff.jpg", good[:2] + exif(b"<html>") + good[2:], "opens")
    put("jpeg-stray-bytes.jpg", good[:20] + b"\0" * 20 + good[20:], "opens")
    put("polyglot-jpeg-pdf.jpg", good + b"\n%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF", "opens")
    put("polyglot-jpeg-html.jpg",
        good[:2] + segment(0xfe, b"--><html><body onload=alert(1)></body></html><!--") + good[2:],
        "opens")


# ---------------------------------------------------------------- GIF

def gif(w, h, blocks, palette=True):
    flags = 0x80 if palette else 0
    return (b"GIF89a" + struct.pack("<HHBBB", w, h, flags, 0, 0)
            + (b"\0\0\0\xff\xff\xff" if palette else b"") + blocks)


def frame(w, h, data=b"\x02\x02\x44\x01\0", x=0, y=0):
    """One frame; the default data is one pixel."""
    return b"," + struct.pack("<HHHHB", x, y, w, h, 0) + data


def gif_files():
    good = saved(picture(), "GIF")
    put("gif-65535-square.gif", gif(65535, 65535, frame(65535, 65535) + b";"), "too_large")
    put("gif-frame-larger-than-canvas.gif", gif(10, 10, frame(65535, 65535) + b";"), "too_large")
    put("gif-7000-lie.gif", gif(7000, 7000, frame(7000, 7000) + b";"), "corrupt")
    put("gif-20000-frames.gif", gif(1, 1, frame(1, 1) * 20000 + b";"), "too_large")
    put("gif-9000-frames.gif", gif(400, 400, frame(1, 1) * 9000 + b";"), "opens")
    put("gif-cut-in-half.gif", good[:len(good) // 2], "corrupt")
    put("gif-header-only.gif", good[:13], "corrupt")
    put("gif-cut-in-header.gif", good[:9], "corrupt")
    put("gif-no-frames.gif", gif(10, 10, b";"), "corrupt")
    put("gif-zero-canvas.gif", gif(0, 0, b";"), "corrupt")
    put("gif-no-palette.gif", gif(1, 1, frame(1, 1) + b";", palette=False), "corrupt")
    put("gif-code-size-200.gif", gif(10, 10, frame(10, 10, b"\xc8\x02\x44\x01\0") + b";"),
        "corrupt")
    put("gif-garbage-codes.gif",
        gif(100, 100, frame(100, 100, b"\x02\x40" + b"\xfe\x6b" * 32 + b"\0") + b";"), "corrupt")
    put("gif-endless-extension.gif", gif(10, 10, b"!\xfe" + b"\x01x" * 50000), "corrupt")
    put("polyglot-gif-html.gif",
        gif(1, 1, b"!\xfe\x1d<script>alert(1)</script>----\0" + frame(1, 1) + b";")
        + b"<html><body>hi</body></html>", "opens")


# ---------------------------------------------------------------- WebP

def riff(body, size=None):
    return b"RIFF" + struct.pack("<I", len(body) + 4 if size is None else size) + b"WEBP" + body


def part(kind, body):
    return kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) & 1)


def vp8x(w, h, flags):
    return part(b"VP8X", struct.pack("<I", flags) + struct.pack("<I", w - 1)[:3]
                + struct.pack("<I", h - 1)[:3])


def vp8l(w, h, data=b"\x10\x88\x88\x08"):
    return part(b"VP8L", b"\x2f" + struct.pack("<I", (w - 1) | (h - 1) << 14) + data)


def webp_files():
    lossy = saved(picture(), "WEBP", quality=80)
    exact = saved(picture(), "WEBP", lossless=True)
    inner = exact[12:]
    put("webp-16383-square.webp", riff(vp8l(16383, 16383)), "too_large")
    put("webp-largest-canvas.webp", riff(vp8x(1 << 24, 1 << 24, 0) + vp8l(10, 10)), "too_large")
    put("webp-canvas-and-picture-differ.webp", riff(vp8x(10, 10, 0) + vp8l(5000, 5000)), "corrupt")
    put("webp-lossy-7900-lie.webp", lossy[:26] + struct.pack("<HH", 7900, 7900) + lossy[30:],
        "corrupt")
    put("webp-lossy-cut.webp", lossy[:len(lossy) // 2], "corrupt")
    put("webp-lossless-cut.webp", exact[:len(exact) // 2], "corrupt")
    put("webp-header-only.webp", exact[:16], "corrupt")
    put("webp-unknown-first-chunk.webp", riff(part(b"ABCD", b"\0" * 10)), "corrupt")
    put("webp-riff-size-lie.webp", b"RIFF\xff\xff\xff\x7f" + exact[8:], "opens")
    put("webp-chunk-past-end.webp", riff(vp8x(10, 10, 0) + b"VP8L\xff\xff\xff\x7f/"), "corrupt")
    anmf = part(b"ANMF", struct.pack("<I", 0)[:3] * 4 + b"\0" * 4 + vp8l(1, 1))
    anim = part(b"ANIM", b"\0" * 6)
    put("webp-12000-frames.webp", riff(vp8x(1, 1, 2) + anim + anmf * 12000), "too_large")
    big = part(b"ANMF", b"\0" * 6 + struct.pack("<I", 9999)[:3] * 2 + b"\0" * 4 + vp8l(1, 1))
    put("webp-frame-larger-than-canvas.webp", riff(vp8x(10, 10, 2) + anim + big), "corrupt")
    put("webp-animation-without-frames.webp", riff(vp8x(10, 10, 2) + anim), "corrupt")
    put("webp-exif-malformed.webp",
        riff(vp8x(64, 48, 8) + inner + part(b"EXIF", b"II\x2a\0\xff\xff\xff\xff")), "opens")
    put("webp-profile-garbage.webp",
        riff(vp8x(64, 48, 0x20) + part(b"ICCP", b"\xaa" * 700) + inner), "opens")


# ---------------------------------------------------------------- BMP, ICO

def bmp(w, h, depth=24, packing=0, data=b""):
    return (b"BM" + struct.pack("<IHHI", 54 + len(data), 0, 0, 54)
            + struct.pack("<IiiHHIIiiII", 40, w, h, 1, depth, packing, 0, 0, 0, 0, 0) + data)


def ico(bodies, sizes=None, kind=1, count=None):
    count = len(bodies) if count is None else count
    head = struct.pack("<HHH", 0, kind, count)
    at = 6 + 16 * len(bodies)
    for body in bodies:
        head += struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, 32, len(body), at)
        at += len(body)
    return head + b"".join(bodies)


def plain_files():
    good = saved(picture(), "BMP")
    put("bmp-largest.bmp", bmp(2**31 - 1, 2**31 - 1), "too_large")
    put("bmp-lowest-height.bmp", bmp(100, -2**31), "too_large")
    put("bmp-negative-width.bmp", bmp(-100, 100, data=b"\0" * 999), "corrupt")
    put("bmp-upside-down.bmp", bmp(4, -4, data=b"\x30" * 48), "opens")
    put("bmp-7900-lie.bmp", bmp(7900, 7900, data=b"\0" * 99), "corrupt")
    put("bmp-cut-in-half.bmp", good[:len(good) // 2], "corrupt")
    put("bmp-depth-7.bmp", bmp(10, 10, depth=7, data=b"\0" * 999), "corrupt")
    put("bmp-zero.bmp", bmp(0, 0), "corrupt")
    put("bmp-run-past-end.bmp", bmp(64, 64, 8, 1, b"\xff\x01" * 40), "corrupt")
    put("bmp-packing-99.bmp", bmp(10, 10, packing=99, data=b"\0" * 999), "corrupt")
    bomb = SIGN + ihdr(40000, 40000, 1, 0) + idat(b"\0" * 99) + IEND
    put("ico-png-bomb-inside.ico", ico([bomb]), "too_large")
    profile = small(chunk(b"iCCP", b"p\0\0" + zeros(100 << 20)))
    put("ico-png-profile-bomb-inside.ico", ico([profile]), "opens")
    put("ico-png-cut-inside.ico", ico([small()[:60]]), "corrupt")
    put("ico-ico-inside.ico", ico([ico([small()])]), "corrupt")
    put("ico-offset-past-end.ico", struct.pack("<HHH", 0, 1, 1)
        + struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, 32, 99, 0x7fffffff), "corrupt")
    put("ico-offset-to-itself.ico", struct.pack("<HHH", 0, 1, 1)
        + struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, 32, 99, 0), "corrupt")
    put("ico-bitmap-lie.ico", ico([bmp(20000, 40000)[14:]]), "too_large")
    put("ico-bitmap-cut.ico", ico([bmp(16, 32, 32)[14:] + b"\0" * 99]), "corrupt")
    put("ico-250-entries.ico", ico([small()] * 2, count=250), "opens")


# ---------------------------------------------------------------- TIFF

def tiff(entries, data=b"", following=0, order="<"):
    """One directory at 8, its data after it."""
    mark = b"II\x2a\0" if order == "<" else b"MM\0\x2a"
    out = mark + struct.pack(order + "I", 8) + struct.pack(order + "H", len(entries))
    for tag, kind, count, value in entries:
        out += struct.pack(order + "HHI", tag, kind, count)
        out += struct.pack(order + ("HH" if kind == 3 and count == 1 else "I"),
                           *((value, 0) if kind == 3 and count == 1 else (value,)))
    return out + struct.pack(order + "I", following) + data


def plain_tiff(w, h, offset=None, length=None, rows=None, bits=8, packing=1, **more):
    return tiff([(256, 4, 1, w), (257, 4, 1, h), (258, 3, 1, bits), (259, 3, 1, packing),
                 (262, 3, 1, 1), (273, 4, 1, 122 if offset is None else offset),
                 (277, 3, 1, 1), (278, 4, 1, h if rows is None else rows),
                 (279, 4, 1, w * h if length is None else length)], **more)


def tiff_files():
    good = saved(picture(), "TIFF")
    put("tiff-largest.tif", plain_tiff(2**32 - 1, 2**32 - 1, length=99), "too_large")
    put("tiff-7900-lie.tif", plain_tiff(7900, 7900), "corrupt")
    put("tiff-strip-of-4-gib.tif", plain_tiff(10, 10, length=2**32 - 1, data=b"\0" * 100),
        "too_large")
    put("tiff-strip-past-end.tif", plain_tiff(10, 10, offset=2**31), "corrupt")
    put("tiff-ring-of-directories.tif", plain_tiff(10, 10, data=b"\x70" * 100, following=8),
        "corrupt")
    put("tiff-plain.tif", plain_tiff(10, 10, data=b"\x70" * 100), "opens")
    put("tiff-directory-past-end.tif", b"II\x2a\0\xff\xff\xff\x7f", "corrupt")
    put("tiff-no-entries.tif", tiff([]), "corrupt")
    put("tiff-65535-entries.tif", b"II\x2a\0\x08\0\0\0\xff\xff" + b"\0" * 60, "corrupt")
    chain, at = b"", 122 + 100
    for _ in range(12000):
        at += 18
        chain += struct.pack("<HHHIII", 1, 256, 4, 1, 1, at)
    put("tiff-12000-pages.tif", plain_tiff(10, 10, data=b"\x70" * 100 + chain, following=222),
        "too_large")
    put("tiff-deflate-bomb.tif",
        plain_tiff(10, 10, packing=8, length=len(zeros(64 << 20)), data=zeros(64 << 20)), "opens")
    put("tiff-deflate-7900-lie.tif",
        plain_tiff(7900, 7900, packing=8, length=60, data=zeros(40000)[:60]), "corrupt")
    put("tiff-rows-a-strip-zero.tif", plain_tiff(10, 10, rows=0, data=b"\0" * 100), "corrupt")
    put("tiff-255-bits.tif", plain_tiff(10, 10, bits=255, data=b"\0" * 100), "unsupported_format")
    put("tiff-packing-unknown.tif", plain_tiff(10, 10, packing=999, data=b"\0" * 100),
        "unsupported_format")
    put("tiff-tiles-of-zero.tif",
        tiff([(256, 4, 1, 10), (257, 4, 1, 10), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
              (277, 3, 1, 1), (322, 4, 1, 0), (323, 4, 1, 0), (324, 4, 1, 8), (325, 4, 1, 100)]),
        "corrupt")
    put("tiff-tiles-of-4-gib.tif",
        tiff([(256, 4, 1, 10), (257, 4, 1, 10), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
              (277, 3, 1, 1), (322, 4, 1, 2**31), (323, 4, 1, 2**31), (324, 4, 1, 8),
              (325, 4, 1, 100)]), "corrupt")
    put("tiff-cut-in-half.tif", good[:len(good) // 2], "corrupt")


# ---------------------------------------------------------------- formats with no decoder here

def box(kind, body):
    return struct.pack(">I", len(body) + 8) + kind + body


def heif(brand, w, h, turn=0):
    ispe = box(b"ispe", struct.pack(">III", 0, w, h))
    irot = box(b"irot", bytes([turn]))
    ipma = box(b"ipma", struct.pack(">IIHB", 0, 1, 1, 2) + b"\x81\x82")
    meta = box(b"meta", b"\0" * 4 + box(b"pitm", struct.pack(">IH", 0, 1))
               + box(b"iprp", box(b"ipco", ispe + irot) + ipma))
    return box(b"ftyp", brand + b"\0\0\0\0mif1" + brand) + meta


def other_files():
    put("unsupported-heic.heic", heif(b"heic", 4032, 3024, 1), "unsupported_format")
    put("unsupported-heic-huge.heic", heif(b"heic", 2**31, 2**31), "unsupported_format")
    put("unsupported-avif.avif", saved(picture(), "AVIF", quality=50), "unsupported_format")
    put("unsupported-jxl.jxl", b"\xff\x0a\xff\x07\x08\x83\x04\x0c", "unsupported_format")
    put("unsupported-jxl-box.jxl", b"\0\0\0\x0cJXL \r\n\x87\n" + box(b"ftyp", b"jxl \0\0\0\0jxl ")
        + box(b"jxlc", b"\xff\x0a\xff\x07\x08\x83\x04\x0c"), "unsupported_format")
    put("unsupported-jxl-cut.jxl", b"\xff\x0a", "corrupt")
    put("unsupported-heic-without-size.heic", box(b"ftyp", b"heic\0\0\0\0mif1"), "corrupt")
    put("unsupported-jpeg2000.jpg", saved(picture(), "JPEG2000"), "unsupported_format")
    put("unsupported-photoshop.png", b"8BPS\0\1" + b"\0" * 40, "unsupported_format")
    put("unsupported-qoi.png", b"qoif" + b"\0" * 20, "unsupported_format")
    put("unsupported-pnm.png", b"P6\n2 2\n255\n" + b"\0" * 12, "unsupported_format")
    put("unsupported-video.jpg", box(b"ftyp", b"isom\0\0\2\0isomiso2mp41") + b"\0" * 40,
        "unsupported_format")
    put("unsupported-pdf.png", b"%PDF-1.4\n1 0 obj<<>>endobj\n%%EOF", "unsupported_format")
    put("unsupported-svg.png", b'<svg xmlns="http://www.w3.org/2000/svg"/>', "unsupported_format")
    laughs = '<?xml version="1.0"?>\n<!DOCTYPE svg [<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(9)
    ) + "]>\n<!-- hi --><svg>&j;</svg>"
    put("unsupported-svg-billion-laughs.png", laughs.encode(), "unsupported_format")
    put("unsupported-svg-utf16.png", b"\xff\xfe" + "<svg/>".encode("utf-16-le"),
        "unsupported_format")
    put("unsupported-svgz.svg", gzip.compress(b"<svg/>", mtime=0), "unsupported_format")
    put("not-empty.png", b"", "empty")
    put("not-text.png", b"just some words\n" * 20, "not_an_image")
    put("not-html.jpg", b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>",
        "not_an_image")
    put("not-lfs-pointer.png", b"version https://git-lfs.github.com/spec/v1\noid sha256:"
        + b"ab" * 32 + b"\nsize 12345\n", "not_an_image")
    put("not-component.tsx", b"export const App = () => <div>hi</div>;\n", "not_an_image")
    put("not-json.webp", b'{"error":{"message":"expired"}}', "not_an_image")
    put("not-zeros.png", bytes(4096), "not_an_image")
    put("not-noise.jpg", bytes((n * n * 31 + n * 7) & 255 for n in range(1, 3000)), "not_an_image")
    put("not-zip.png", b"PK\3\4" + b"\0" * 60, "not_an_image")
    put("not-program.gif", b"\x7fELF\2\1\1" + b"\0" * 60, "not_an_image")
    put("not-data-url.png", b"data:image/png;base64,iVBORw0KGgo=", "not_an_image")
    put("not-utf16-text.png", b"\xff\xfe" + "words".encode("utf-16-le"), "not_an_image")
    put("not-bmp-but-bm.bmp", b"BM is how this text starts, and it goes on", "not_an_image")
    put("label-png-as.jpg", saved(picture(), "PNG"), "opens")
    put("label-jpeg-as.png", saved(picture(), "JPEG"), "opens")
    put("label-webp-as.gif", saved(picture(), "WEBP"), "opens")
    put("label-gif-as.webp", saved(picture(), "GIF"), "opens")
    put("label-bmp-as.png", saved(picture(), "BMP"), "opens")
    put("label-tiff-as.jpg", saved(picture(), "TIFF"), "opens")
    put("label-ico-as.png", saved(picture((32, 32)), "ICO"), "opens")
    put("label-jpeg-as.svg", saved(picture(mode="L"), "JPEG"), "opens")
    wide = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    put("label-png-with-profile.txt", saved(picture(), "PNG", icc_profile=wide), "opens")


def main():
    for make in (png_files, jpeg_files, gif_files, webp_files, plain_files, tiff_files, other_files):
        make()
    lines = ["# Written by make.py: what each file must give.", ""]
    lines += [f'"{name}" = "{verdict}"' for name, verdict in sorted(EXPECT.items())]
    FILES[HERE / "expect.toml"] = ("\n".join(lines) + "\n").encode()
    for old in set(HERE.iterdir()) - set(FILES):
        if old.suffix == ".py" or old.is_dir():
            continue
        if "--check" in sys.argv[1:]:
            sys.exit(f"{old} is not written by make.py")
        old.unlink()
    write_or_check(FILES)


if __name__ == "__main__":
    main()
