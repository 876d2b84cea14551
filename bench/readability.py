#!/usr/bin/env python3
"""What can still be read: tesseract on our views and on sharp's, character by character.

    readability.py             default views of 4K and 1440x5056 screens, against sharp at that size
    readability.py --region    every piece of text looked at on its own, as a region of the original
    readability.py --curve     accuracy against x-height, which is where `legibility::READABLE` is from

Needs tesseract-ocr, fonts-dejavu-core, Pillow, numpy, node; sharp goes to ~/.cache/photic/readability.
Build first: cargo build --release -p photic-pixels --example view_once
"""

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image, ImageFont

sys.path.insert(0, str(Path(__file__).parent))
import screens

CACHE = Path.home() / ".cache/photic/readability"
# Tesseract wants letters about 20 px tall; everybody's pixels are enlarged alike.
ENLARGE = 3
MARGIN = 6
SHARP = """
import sharp from 'sharp';
const [input, output, width, height] = process.argv.slice(2);
const size = { width: +width, height: +height, fit: 'fill' };
await sharp(input).resize(size).toFile(output);
"""


def distance(a, b):
    """Levenshtein's."""
    row = np.arange(len(b) + 1)
    letters = np.array([ord(c) for c in b])
    steps = np.arange(1, len(b) + 1)
    for i, c in enumerate(a, 1):
        best = np.minimum(row[:-1] + (letters != ord(c)), row[1:] + 1)
        row = np.concatenate([[i], np.minimum(np.minimum.accumulate(best - steps), i) + steps])
    return int(row[-1])


def read(images):
    """The text of each picture; one tesseract process for a handful of them."""

    def batch(part):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, image in enumerate(part):
                image = image.convert("L")
                image = image.resize((image.width * ENLARGE, image.height * ENLARGE), Image.BICUBIC)
                paths.append(f"{folder}/{number}.png")
                image.save(paths[-1])
            Path(folder, "list.txt").write_text("\n".join(paths) + "\n")
            command = ["tesseract", f"{folder}/list.txt", "-", "--psm", "6", "-l", "eng"]
            env = {**os.environ, "OMP_THREAD_LIMIT": "1"}
            done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
            return [" ".join(page.split()) for page in done.stdout.split("\f")[: len(part)]]

    parts = [images[i : i + 6] for i in range(0, len(images), 6)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [text for texts in pool.map(batch, parts) for text in texts]


def accuracy(truths, texts):
    wrong = sum(min(len(truth), distance(truth, text)) for truth, text in zip(truths, texts))
    return 1 - wrong / sum(map(len, truths))


def blocks_of(image, blocks, source):
    """The blocks as cut out of a scaled picture."""
    sx, sy = image.width / source[0], image.height / source[1]
    for block in blocks:
        x, y, w, h = block.rect
        left, top = int((x - MARGIN) * sx), int((y - MARGIN) * sy)
        right, bottom = int((x + w + MARGIN) * sx) + 1, int((y + h + MARGIN) * sy) + 1
        yield image.crop((max(left, 0), max(top, 0), min(right, image.width), min(bottom, image.height)))


def score(image, blocks, source):
    truths = [" ".join(block.lines) for block in blocks]
    return accuracy(truths, read(list(blocks_of(image, blocks, source))))


def view(binary, file, *options):
    """Our view of a file, and its facts."""
    with tempfile.NamedTemporaryFile() as out:
        command = [binary, file, out.name, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        facts = [line.partition("=")[::2] for line in done.stdout.splitlines()]
        image = Image.open(out.name)
        image.load()
        return image, dict(facts)


def sharp(file, size, suffix):
    CACHE.mkdir(parents=True, exist_ok=True)
    if not (CACHE / "node_modules/sharp").exists():
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "sharp@0.35.5"], cwd=CACHE, check=True)
    (CACHE / "shrink.mjs").write_text(SHARP)
    out = CACHE / f"out.{suffix}"
    subprocess.run(["node", "shrink.mjs", file, str(out), *map(str, size)], cwd=CACHE, check=True)
    image = Image.open(out)
    image.load()
    return image


def default_views(binary, named):
    print("| screen | model | view | x-height | ours | sharp, png | sharp, jpeg | warned |")
    print("|---|---|---|---|---|---|---|---|")
    profiles = ["claude@anthropic", "gpt-4o@openai-chat", "gpt-5.6@openai-responses"]
    for name, image, blocks, file in named:
        smallest = min(block.size for block in blocks)
        for profile in profiles:
            ours, facts = view(binary, file, "--profile", profile)
            scores = [score(ours, blocks, image.size)]
            for suffix in ("png", "jpg"):
                scores.append(score(sharp(file, ours.size, suffix), blocks, image.size))
            cells = [f"{100 * s:.2f} %" for s in scores]
            kind = facts["type"].removeprefix("image/")
            size = f"{ours.width}x{ours.height} {kind}"
            height = x_height(smallest) * float(facts["scale"])
            warned = "yes" if "text" in facts.get("warning", "") else "no"
            row = [name, profile, size, f"{height:.1f}", *cells, warned]
            print("| " + " | ".join(row) + " |", flush=True)


def regions(binary, named):
    print("| screen | regions | characters | recovered | worst region |")
    print("|---|---|---|---|---|")
    for name, _, blocks, file in named:
        truths, images = [], []
        for block in blocks:
            x, y, w, _ = block.rect
            step = round(block.size * block.leading)
            for first in range(0, len(block.lines), 10):
                lines = block.lines[first : first + 10]
                rect = (x - 8, y + first * step - 4, w + 16, len(lines) * step + 4)
                picture, _ = view(binary, file, "--region", ",".join(str(max(0, n)) for n in rect))
                truths.append(" ".join(lines))
                images.append(picture)
        texts = read(images)
        worst = min(accuracy([truth], [text]) for truth, text in zip(truths, texts))
        total = sum(map(len, truths))
        all_of_it = accuracy(truths, texts)
        print(f"| {name} | {len(truths)} | {total} | {100 * all_of_it:.2f} % | {100 * worst:.2f} % |", flush=True)


def curve(_, named):
    print("| x-height | accuracy |\n|---|---|")
    _, image, blocks, _ = named[0]
    blocks = [block for block in blocks if block.size == 28]
    for height in (8, 7, 6, 5.5, 5, 4.5, 4, 3.5, 3, 2.5):
        by = height / x_height(28)
        small = image.resize((round(image.width * by), round(image.height * by)), Image.LANCZOS)
        print(f"| {height} | {100 * score(small, blocks, image.size):.2f} % |", flush=True)


def x_height(size):
    box = ImageFont.truetype(screens.FONTS + "DejaVuSans.ttf", size).getbbox("x")
    return box[3] - box[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    target = os.environ.get("CARGO_TARGET_DIR", str(Path(__file__).parents[1] / "target"))
    parser.add_argument("--binary", default=f"{target}/release/examples/view_once")
    parser.add_argument("--region", action="store_true")
    parser.add_argument("--curve", action="store_true")
    arguments = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    named = []
    for name, (image, blocks) in (
        ("4K desktop 3840x2160", screens.desktop()),
        ("page 1440x5056", screens.page()),
    ):
        file = str(CACHE / f"{name.replace(' ', '-')}.png")
        image.save(file)
        named.append((name, image, blocks, file))
    job = regions if arguments.region else curve if arguments.curve else default_views
    job(arguments.binary, named)


if __name__ == "__main__":
    main()
