#!/usr/bin/env python3
"""Writes the tiny real files the wire cases are made of. Needs Pillow 13 for jpg, gif, webp, bmp, tiff.

The PNGs are written by hand (1 bit palette, stored deflate), so that no zlib version changes a byte. `--check` compares
the committed files with what would be written.
"""
import sys
import wave
import zlib
from io import BytesIO
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[4] / "tests"))
import pictures  # noqa: E402
from generated import write_or_check  # noqa: E402

PALETTES = {
    "red": (64, 48, (220, 20, 30), (120, 0, 10)),
    "green": (80, 60, (20, 160, 60), (0, 90, 20)),
    "blue": (96, 64, (30, 60, 210), (10, 20, 110)),
    "yellow": (72, 72, (240, 210, 20), (150, 130, 0)),
    "white": (120, 40, (255, 255, 255), (200, 200, 200)),
    "black": (48, 96, (0, 0, 0), (60, 60, 60)),
    "tall": (1, 301, (200, 80, 200), (90, 20, 90)),
    "wide": (8001, 1, (80, 200, 200), (20, 90, 90)),
}


def png(width, height, ground, mark):
    """The ground colour with a darker block in the top left quarter: no symmetry, so a flip shows."""
    rows = b""
    for y in range(height):
        bits = [1 if x < width // 2 and y < height // 2 else 0 for x in range(width)]
        bits += [0] * (-width % 8)
        rows += b"\0" + bytes(int("".join(map(str, bits[i : i + 8])), 2) for i in range(0, len(bits), 8))
    head = pictures.SIGNATURE + pictures.header(width, height, bits=1, color=pictures.PALETTE)
    return head + pictures.chunk(b"PLTE", bytes(ground + mark)) + pictures.stored(rows) + pictures.END


def stub():
    """The smallest 8 bit RGB PNG: 1x1, 69 bytes, valid."""
    pixel = bytes.fromhex("789c63f8cfc0000003010100")
    data = pictures.SIGNATURE + pictures.header(1, 1) + pictures.chunk(b"IDAT", pixel) + pictures.END
    assert len(data) == 69 and zlib.decompress(pixel) == b"\0\xff\0\0"
    return data


def pillow(kind, size, **options):
    image = Image.new("RGB", size)
    image.putdata([(x * 5 % 256, y * 7 % 256, (x + y) * 3 % 256) for y in range(size[1]) for x in range(size[0])])
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def gif(frames):
    images = [Image.new("P", (40, 30), i) for i in range(frames)]
    for image in images:
        image.putpalette([200, 40, 40, 40, 40, 200, 40, 200, 40])
    out = BytesIO()
    images[0].save(out, "GIF", save_all=True, append_images=images[1:], duration=100, loop=0)
    return out.getvalue()


def pdf():
    """One page that says Invoice 4711, with a right cross-reference table."""
    text = b"BT /F1 18 Tf 20 60 Td (Invoice 4711) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 120] /Contents 4 0 R"
        b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    tail = b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(out)
    return out + b"xref\n0 5\n0000000000 65535 f \n" + table + tail


def wav():
    out = BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(bytes(128 + (40 if i // 8 % 2 else -40) for i in range(160)))
    return out.getvalue()


FILES = {f"{name}.png": png(*palette) for name, palette in PALETTES.items()}
FILES |= {
    "photo.jpg": pillow("JPEG", (48, 32), quality=60),
    "still.gif": gif(1),
    "anim.gif": gif(3),
    "pic.webp": pillow("WEBP", (48, 32), quality=80),
    "pic.bmp": pillow("BMP", (10, 8)),
    "pic.tiff": pillow("TIFF", (10, 8)),
    "pic.svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="#c33"/></svg>\n',
    "truncated.png": png(200, 150, (90, 90, 90), (10, 10, 10))[:1400],
    "stub69.png": stub(),
    "sig8.png": b"\x89PNG\r\n\x1a\n",
    "doc.pdf": pdf(),
    "tone.wav": wav(),
}

if __name__ == "__main__":
    write_or_check({HERE / name: data for name, data in FILES.items()})
