#!/usr/bin/env python3
"""What can still be read: tesseract on our views and on sharp's, character by character.

    readability.py               default views of 4K and 1440x5056 screens, against sharp at that
                                 size, then every piece of text on its own, as a region
    readability.py --check       the same; ends with 1 if a goal is missed or docs/views.md disagrees
    readability.py --write-docs  the same, and writes the tables into docs/views.md
    readability.py --curve       accuracy against x-height, where `legibility::READABLE` is from

Needs cargo, node, npm, tesseract-ocr, fonts-dejavu-core, Pillow and numpy. Screens, sharp and
what was read before are kept in the cache.
"""

import argparse
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image, ImageFont

sys.path.insert(0, str(Path(__file__).parent))
import screens

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs/views.md"
BEGIN, END = "<!-- begin: bench/readability.py --write-docs -->", "<!-- end -->"
CACHE = Path(os.environ.get("PHOTIC_CACHE", Path.home() / ".cache/photic")) / "readability"
MODELS = ["claude-sonnet-5", "gpt-4o", "gpt-5.6"]
# Ours may be this much below the better of sharp's two: about one character in a thousand moves
# with the version of tesseract.
SLACK = 0.001
REGION_GOAL = 0.99
# Figures in the docs may differ by this much, in percent, from those of another tesseract.
DRIFT = 1.0
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


@functools.cache
def reader():
    """The version of tesseract; the same pixels are the same words to it."""
    return subprocess.run(["tesseract", "--version"], capture_output=True, text=True, check=True).stdout


def kept(part):
    """Where the words of these pictures are kept. They are read in one go: it learns from one to the next."""
    pixels = hashlib.sha256(f"{reader()} {ENLARGE}".encode())
    for image in part:
        pixels.update(f"{image.mode} {image.size}".encode() + image.tobytes())
    return CACHE / "words" / f"{pixels.hexdigest()}.json"


def read(images):
    """The text of each picture; one tesseract process for a handful of them."""

    def batch(part):
        words = kept(part)
        if not words.exists():
            words.parent.mkdir(parents=True, exist_ok=True)
            fresh = words.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
            fresh.write_text(json.dumps(look(part)))
            fresh.rename(words)
        return json.loads(words.read_text())

    def look(part):
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
        command = [binary, "view", file, "-o", out.name, "--json", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        image = Image.open(out.name)
        image.load()
        return image, json.loads(done.stdout)


def sharp(file, size, suffix):
    CACHE.mkdir(parents=True, exist_ok=True)
    if not (CACHE / "node_modules/sharp").exists():
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "sharp"], cwd=CACHE, check=True)
    (CACHE / "shrink.mjs").write_text(SHARP)
    out = CACHE / f"out.{suffix}"
    subprocess.run(["node", "shrink.mjs", file, str(out), *map(str, size)], cwd=CACHE, check=True)
    image = Image.open(out)
    image.load()
    return image


def default_views(binary, named, missed):
    yield "| screen | for | view | smallest x-height | photic | sharp to PNG | sharp to JPEG | warned |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, image, blocks, file in named:
        smallest = min(block.size for block in blocks)
        for model in MODELS:
            ours, facts = view(binary, file, "--for", model)
            mine = score(ours, blocks, image.size)
            theirs = [score(sharp(file, ours.size, suffix), blocks, image.size) for suffix in ("png", "jpg")]
            if mine < max(theirs) - SLACK:
                missed.append(f"{name} for {model}: {mine:.4f}, sharp {max(theirs):.4f}")
            kind = facts["media_type"].removeprefix("image/").upper()
            size = f"{ours.width}x{ours.height} {kind}"
            height = x_height(smallest) * facts["scale"]
            codes = [warning["code"] for warning in facts["warnings"]]
            warned = "yes" if "small_text" in codes else "no"
            cells = [f"{100 * accuracy:.2f} %" for accuracy in (mine, *theirs)]
            yield "| " + " | ".join([name, model, size, f"{height:.1f} px", *cells, warned]) + " |"


def regions(binary, named, missed):
    yield "| screen | regions | characters | recovered | worst region |"
    yield "|---|---|---|---|---|"
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
        each = [(accuracy([truth], [text]), truth, text) for truth, text in zip(truths, texts)]
        worst = min(each)
        if worst[0] < REGION_GOAL:
            missed.append(f"{name}: a region at {worst[0]:.4f}: {worst[1]!r} read as {worst[2]!r}")
        total, all_of_it = sum(map(len, truths)), accuracy(truths, texts)
        cells = [name, str(len(truths)), str(total), f"{100 * all_of_it:.2f} %", f"{100 * worst[0]:.2f} %"]
        yield "| " + " | ".join(cells) + " |"


def curve(named):
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


def build():
    # With an example, dependencies have the features that the other measurements build them with.
    command = ["cargo", "build", "--quiet", "--release", "--workspace", "--bin", "photic"]
    command += ["--example", "bench_one"]
    subprocess.run(command, cwd=ROOT, check=True)
    return os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target")) + "/release/photic"


def in_docs():
    """What docs/views.md says, without what stands around it."""
    text = DOCS.read_text()
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END, text.index(BEGIN))].strip()


def agree(said, found, figure=r"(\d+\.\d+) %", drift=DRIFT):
    """Whether two texts differ in nothing but a little in such figures."""
    figure = re.compile(figure)
    if figure.sub("", said) != figure.sub("", found):
        return False
    pairs = zip(figure.findall(said), figure.findall(found))
    return all(abs(float(a) - float(b)) <= drift for a, b in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--binary", help="photic; built when it is not given")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write-docs", action="store_true")
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
    if arguments.curve:
        return curve(named)
    binary = arguments.binary or build()
    missed, tables = [], []
    for table in (default_views, regions):
        lines = []
        for line in table(binary, named, missed):
            print(line, flush=True)
            lines.append(line)
        print(flush=True)
        tables.append("\n".join(lines))
    found = "\n\n".join(tables)
    if arguments.write_docs:
        DOCS.write_text(DOCS.read_text().replace(in_docs(), found))
    elif arguments.check and not agree(in_docs(), found):
        missed.append("docs/views.md says otherwise: bench/readability.py --write-docs")
    if missed:
        sys.exit("\n".join(f"missed: {what}" for what in missed))


if __name__ == "__main__":
    main()
