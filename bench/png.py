#!/usr/bin/env python3
"""Bytes of PNG views, against `oxipng -o2` of the same pixels.

    png.py               draws screens, makes views of them, and prints the table
    png.py --check       the same; ends with 1 if a goal is missed or docs/views.md disagrees
    png.py --write-docs  the same, and writes the table into docs/views.md

Only bytes are compared, so that the same versions give the same table on every machine. Needs
fonts-dejavu-core, pillow, numpy and pyoxipng.
"""

import argparse
import io
import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import oxipng
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
import generate
import screens

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs/views.md"
BEGIN, END = "<!-- begin: bench/png.py --write-docs -->", "<!-- end -->"
CACHE = Path(os.environ.get("PHOTIC_CACHE", Path.home() / ".cache/photic")) / "png"
GOAL = 1.1
# What fails: all rows together beyond the first, or one beyond the second.
ALL_MOST, MOST = 1.12, 1.15
# Versions of Pillow and of the font draw a few pixels differently.
DRIFT = 0.02


def with_photo(image):
    """The screen with a photograph in a pane of it."""
    photo = generate.photo(1200, 900)
    photo = photo if isinstance(photo, Image.Image) else Image.fromarray(np.asarray(photo))
    image = image.copy()
    image.paste(photo, (image.width - 1300, image.height - 1000))
    return image


def subjects():
    """Name, picture, and the options of the view."""
    desktop = screens.desktop(size=(1920, 1080), unit=1)[0]
    large = screens.desktop()[0]
    page = screens.page()[0]
    model = ["--for", "claude-sonnet-5"]
    yield "desktop 1920x1080", desktop, model
    yield "desktop 3840x2160, scaled", large, model
    yield "page 1440x5056, scaled", page, model
    yield "part of that page, 1200x900", page, [*model, "--region", "0,1000,1200,900"]
    yield "desktop with a photograph, scaled", with_photo(large), model
    yield "small screen 800x600", desktop.crop((0, 0, 800, 600)), model


def rows(binary):
    CACHE.mkdir(parents=True, exist_ok=True)
    for name, image, options in subjects():
        source, view = CACHE / "source.png", CACHE / "view.png"
        image.save(source)
        command = [binary, "view", str(source), *options, "-o", str(view)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        ours = view.read_bytes()
        seen = Image.open(io.BytesIO(ours))
        if seen.format != "PNG":
            sys.exit(f"the view of {name} is a {seen.format}")
        smallest = oxipng.optimize_from_memory(ours, level=2, strip=oxipng.StripChunks.safe())
        # A picture that needs no change is the view of itself.
        made = ours != source.read_bytes()
        equal = seen.size == image.size
        yield name, seen.size, source.stat().st_size if equal else None, len(ours), len(smallest), made


def table(found):
    yield "| screen | view | source | view, bytes | oxipng -o2 | view / oxipng |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name, (width, height), source, ours, smallest, made in found:
        source = f"{source:,}" if source else "other pixels"
        size, ratio = f"{width}x{height}", f"{ours / smallest:.2f}"
        ratio = ratio if made else f"{ratio}, as it came"
        yield f"| {name} | {size} | {source} | {ours:,} | {smallest:,} | {ratio} |"


def numbers(text):
    return [
        float(cell.replace(",", ""))
        for line in text.splitlines()
        for cell in line.split("|")
        if cell.strip().replace(",", "").replace(".", "").isdigit()
    ]


def agree(docs, found):
    """Whether the figures are about the same."""
    docs, found = numbers(docs), numbers(found)
    pairs = zip(docs, found)
    return len(docs) == len(found) and all(abs(a - b) <= DRIFT * max(a, b) for a, b in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--binary", required=True, help="photic")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write-docs", action="store_true")
    arguments = parser.parse_args()
    found = list(rows(arguments.binary))
    printed = "\n".join(table(found))
    print(printed, flush=True)
    before, _, rest = DOCS.read_text().partition(BEGIN)
    in_docs, _, after = rest.partition(END)
    if arguments.write_docs:
        DOCS.write_text(f"{before}{BEGIN}\n{printed}\n{END}{after}")
        return
    missed = []
    ratios = {name: ours / smallest for name, _, _, ours, smallest, made in found if made}
    middle = statistics.geometric_mean(ratios.values())
    print(f"of what photic wrote, all: {middle:.3f} times (goal {GOAL}, at most {ALL_MOST}), the worst {max(ratios.values()):.3f} (at most {MOST})")
    if middle > ALL_MOST:
        missed.append(f"all together: {middle:.3f} times the bytes of oxipng")
    missed += [f"{name}: {ratio:.3f} times the bytes of oxipng" for name, ratio in ratios.items() if ratio > MOST]
    missed += [
        f"{name}: heavier than its source, {ours:,} of {source:,}"
        for name, _, source, ours, _, _ in found
        if source and ours > source
    ]
    if arguments.check and not agree(in_docs, printed):
        missed.append("docs/views.md says otherwise: bench/png.py --write-docs")
    if missed:
        sys.exit("\n".join(f"missed: {what}" for what in missed))


if __name__ == "__main__":
    main()
