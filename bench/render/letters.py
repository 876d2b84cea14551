#!/usr/bin/env python3
"""What can be read on rendered pages: tesseract, character by character.

    letters.py               code, logs and prose at the default size, then PDF pages by region
    letters.py --check       the same; ends with 1 if a goal is missed or docs/rendering.md disagrees
    letters.py --write-docs  the same, and writes the tables into docs/rendering.md
    letters.py --mistakes    the same, and what was read wrongly

The pages are cut into bands of ten rows without the line numbers, as a reader looks at them; for
tesseract alone each band is enlarged threefold. Runs of white space count as one.
Needs cargo, tesseract-ocr, and the Python packages that `tests/e2e/suites/65-render` installs.
"""

import argparse
import collections
import difflib
import functools
import re
import tempfile
from pathlib import Path

from PIL import ImageOps

import documents
import drawing
import readability

HERE = Path(__file__).resolve().parent
GOAL = 0.99
BAND = 10

# What is shown, its file in texts/, its kind, how it is asked for, and what it counts as.
TEXTS = [
    ("Rust", "code.rs", "text", {}, "code"),
    ("Python", "code.py", "text", {}, "code"),
    ("JSON", "data.json", "text", {}, "code"),
    ("log", "server.log", "text", {}, "code"),
    ("prose", "prose.txt", "text", {}, "prose"),
    ("Markdown", "prose.md", "markdown", {}, "prose"),
    ("Rust, dark", "code.rs", "text", {"theme": "dark"}, None),
    ("prose, dark", "prose.txt", "text", {"theme": "dark"}, None),
]


def rows_of(source, facts):
    """The text of every row of a page."""
    lines = source.split("\n")
    for row in facts["rows"]:
        columns = row["columns"]
        yield lines[row["line"] - 1][columns[0] - 1 : columns[-1]] if columns else ""


def pages_of(drawn, kind, source, **options):
    """Every page, with what was answered."""
    page, pages = 1, 1
    while page <= pages:
        image, answer = drawn.picture(kind, source, page=page, name=source.name, **options)
        pages = answer["facts"]["pages"]
        page += 1
        yield image, answer


def bands(drawn, source, **options):
    """All pages of a text, in bands: the picture, and what stands there."""
    for image, answer in pages_of(drawn, "text", source, **options):
        facts, scale = answer["facts"], answer["scale"]
        rows = list(zip(facts["rows"], rows_of(source.read_text(), facts)))
        for first in range(0, len(rows), BAND):
            part = rows[first : first + BAND]
            left = part[0][0]["left"] - 8
            top, bottom = part[0][0]["top"], part[-1][0]["top"] + part[-1][0]["height"]
            truth = " ".join(" ".join(text for _, text in part).split())
            if truth:
                box = (left, top, image.width / scale, bottom)
                band = image.crop(tuple(round(edge * scale) for edge in box))
                # Paper around it, as there is around text: else the last row's tails touch the edge.
                yield [ImageOps.expand(band, round(12 * scale), image.getpixel((1, 1)))], truth


def sheets(drawn, kind, source, **options):
    """All pages of a kind that is laid out, and the words of all of them."""
    images = [image for image, _ in pages_of(drawn, kind, source, **options)]
    yield images, words(source.read_text())


def words(markdown):
    """What a reader sees of Markdown: the texts here have headings, lists, emphasis and code."""
    plain = re.sub(r"^(#+|-) ", "", markdown, flags=re.MULTILINE)
    return " ".join(re.sub(r"[`*]", "", plain).split())


def score(pairs):
    """Characters, the share that was recovered, and what was read for what stands there."""
    pairs = list(pairs)
    read = iter(readability.read([image for images, _ in pairs for image in images]))
    truths = [truth for _, truth in pairs]
    texts = [" ".join(next(read) for _ in images) for images, _ in pairs]
    return sum(map(len, truths)), readability.accuracy(truths, texts), list(zip(truths, texts))


def texts(drawn, missed, mistakes):
    together = collections.defaultdict(list)
    for name, file, kind, options, counts_as in TEXTS:
        source = HERE / "texts" / file
        shown = bands if kind == "text" else functools.partial(sheets, kind=kind)
        count, usual, pairs = score(shown(drawn, source=source, **options))
        _, double, _ = score(shown(drawn, source=source, scale=2.0, **options))
        mistakes(name, pairs)
        together[counts_as].append((count, usual))
        yield name, count, f"{100 * usual:.2f} %", f"{100 * double:.2f} %", ""
    for name in ("code", "prose"):
        count = sum(count for count, _ in together[name])
        usual = sum(count * usual for count, usual in together[name]) / count
        if usual < GOAL:
            missed.append(f"{name}: {100 * usual:.2f} %")
        yield f"**all {name}**", count, f"**{100 * usual:.2f} %**", "", f"{100 * GOAL:.0f} %"


def regions(drawn, missed, mistakes):
    with tempfile.TemporaryDirectory() as folder:
        for font, size, file, leading, lines in documents.reading(Path(folder)):
            pairs = list(zoomed(drawn, file, leading, lines))
            count, recovered, read = score(pairs)
            if recovered < GOAL:
                missed.append(f"PDF in {font}: {100 * recovered:.2f} %")
            mistakes(font, read)
            embedded = "embedded" if "DejaVu" in font else "not embedded"
            yield f"{font} {size} pt, {embedded}", len(pairs), count, f"{100 * recovered:.2f} %"


def zoomed(drawn, file, leading, lines):
    """Bands over the whole page, as wide as it is, cut between lines."""
    width, height = documents.A4
    edges = [0.0, *(top - leading / 4 for top, _ in lines[BAND::BAND]), height]
    for number, (top, bottom) in enumerate(zip(edges, edges[1:])):
        area = {"x": 0.0, "y": top, "width": width, "height": bottom - top}
        image, _ = drawn.picture("pdf", file, region=area)
        yield [image], " ".join(line for _, line in lines[number * BAND : (number + 1) * BAND])


def wrong(name, pairs):
    """Prints what was misread most."""
    count = collections.Counter()
    for truth, text in pairs:
        for kind, a, b, c, d in difflib.SequenceMatcher(None, truth, text, False).get_opcodes():
            if kind != "equal":
                count[truth[a:b], text[c:d]] += max(b - a, d - c)
    print(f"  {name}:", ", ".join(f"{a!r} as {b!r} {n}x" for (a, b), n in count.most_common(12)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", help="render_files; built when it is not given")
    for flag in ("--check", "--write-docs", "--mistakes"):
        parser.add_argument(flag, action="store_true")
    arguments = parser.parse_args()
    drawn = drawing.Drawing(arguments.bin or drawing.build())
    mistakes = wrong if arguments.mistakes else lambda *_: None
    missed = []
    header = ["page", "characters", "recovered", "drawn twice as large", "goal"]
    found = drawing.table(header, texts(drawn, missed, mistakes))
    header = ["PDF page by region", "regions", "characters", "recovered"]
    found += "\n\n" + drawing.table(header, regions(drawn, missed, mistakes))
    if arguments.write_docs:
        drawing.write_docs("letters.py", found)
    elif arguments.check and not readability.agree(drawing.in_docs("letters.py"), found):
        missed.append("docs/rendering.md says otherwise: bench/render/letters.py --write-docs")
    drawing.finish(missed)


if __name__ == "__main__":
    main()
