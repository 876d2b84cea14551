#!/usr/bin/env python3
"""Draws the pictures the captures carry. The committed files are the truth:
a recorded body holds their exact bytes, so redraw only to add a picture.

PNG is written by hand with zlib; JPEG and WebP need pillow==13.0.0.
`images.py --check` redraws in memory and compares: by bytes, else by pixels.
"""
import io, math, pathlib, sys

HERE = pathlib.Path(__file__).resolve().parent / "images"
sys.path.insert(0, str(HERE.parents[1] / "tests"))
import pictures  # noqa: E402
from generated import write_or_check  # noqa: E402

W, H = 64, 48


def png(pixel, color):
    """pixel(x, y) -> bytes of one pixel."""
    rows = b"".join(b"\0" + b"".join(pixel(x, y) for x in range(W)) for y in range(H))
    return pictures.png(W, H, rows, color=color)


def bars(x, y):
    """Four bars of different height on a pale gradient: a chart."""
    bar, height = x // 16, (10, 34, 22, 44)[x // 16]
    colours = ((220, 40, 40), (40, 160, 60), (40, 80, 220), (240, 170, 20))
    return bytes(colours[bar] if H - y <= height and x % 16 > 2 else (255 - y, 250, 255 - y))


def disc(x, y):
    """A shaded disc on a transparent ground: PNG with alpha."""
    r = math.hypot(x - 32, y - 24)
    return bytes((int(255 - r * 6), 60, int(80 + r * 5), 255)) if r < 20 else bytes(4)


def page(x, y):
    """Dark text-like lines on cream: a photographed page."""
    ink = y % 8 < 3 and 6 < x < 58 and (x * 7 + y * 3) % 11 < 7
    return (40, 36, 30) if ink else (250, 244, 226)


def wave(x, y):
    """A sine wave on a night sky."""
    near = abs(y - 24 - 14 * math.sin(x / 64 * 4 * math.pi)) < 2
    return (250, 240, 120) if near else (10, 20 + y * 2, 60 + x)


def pillow(pixel, fmt, **options):
    from PIL import Image

    image = Image.new("RGB", (W, H))
    image.putdata([pixel(x, y) for y in range(H) for x in range(W)])
    out = io.BytesIO()
    image.save(out, fmt, **options)
    return out.getvalue()


DRAWN = {
    "bars.png": lambda: png(bars, pictures.RGB),
    "disc.png": lambda: png(disc, pictures.RGBA),
    "page.jpg": lambda: pillow(page, "JPEG", quality=70),
    "wave.webp": lambda: pillow(wave, "WEBP", quality=80, method=6),
}

if __name__ == "__main__":
    write_or_check({HERE / name: draw() for name, draw in DRAWN.items()})
