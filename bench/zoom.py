#!/usr/bin/env python3
"""Draws docs/views-zoom.png: some lines of a long page in the overview, and as a region.

usage: zoom.py PHOTIC [--check]

`--check` compares the committed picture with what would be drawn, by their pixels.
"""

import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]
import screens
from generated import write_or_check

REGION = (48, 204, 560, 156)
OUT = Path(__file__).resolve().parents[1] / "docs/views-zoom.png"
INK, PAPER, GAP, CAPTION = "#1f2937", "#eef1f5", 12, 26


def view(photic, file, *options):
    with tempfile.NamedTemporaryFile() as out:
        command = [photic, "view", file, "-o", out.name, "--json", *options]
        facts = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        return Image.open(out.name).convert("RGB"), facts


def main():
    photic = sys.argv[1]
    x, y, w, h = REGION
    with tempfile.NamedTemporaryFile(suffix=".png") as page:
        screens.page()[0].save(page.name)
        whole, facts = view(photic, page.name)
        zoom, _ = view(photic, page.name, "--region", f"{x},{y},{w},{h}")
    scale, (width, height) = facts["scale"], facts["size"]
    seen = whole.crop(tuple(round(edge * scale) for edge in (x, y, x + w, y + h)))
    seen = seen.resize((w, h), Image.NEAREST)
    tall = next(each["x_height"] for each in facts["warnings"] if each["code"] == "small_text")
    captions = [
        f"in the overview, {width}x{height}: letters {tall:.1f} px tall",
        f"photic view page.png --region {x},{y},{w},{h}",
    ]
    sheet = Image.new("RGB", (2 * w + 3 * GAP, h + CAPTION + 2 * GAP), PAPER)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.truetype(screens.FONTS + "DejaVuSans.ttf", 14)
    for number, (picture, words) in enumerate(zip((seen, zoom), captions)):
        left = GAP + number * (w + GAP)
        draw.text((left, GAP), words, INK, font)
        sheet.paste(picture, (left, GAP + CAPTION))
    drawn = io.BytesIO()
    sheet.quantize(64, dither=Image.NONE).save(drawn, "PNG", optimize=True)
    write_or_check({OUT: drawn.getvalue()})


if __name__ == "__main__":
    main()
