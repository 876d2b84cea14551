#!/usr/bin/env python3
"""Whether our pages look as they should: beside resvg's own program, and beside pdftoppm.

    fidelity.py [--check | --write-docs] [--all] [--bin PATH/TO/render_files]

SVG: every drawing in tests/sources against `resvg` of the version we use, with our fonts, at our
size; where that program is not installed, against the library as its example calls it. PDF: documents of documents.py, and tests/sources/pdf, against pdftoppm at our resolution,
beside hayro's own rendering of the same page. SSIM is of luma over white, as in bench/speed.py.
`--all` prints a row for each file; otherwise one for each kind, with its worst file.
Needs cargo, resvg (cargo install), pdftoppm (poppler-utils), and the Python packages that
`tests/e2e/suites/65-render` installs.
"""

import argparse
import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import documents
import drawing
import numpy as np
import readability
import speed

FONTS = drawing.ROOT / "crates/photic-render/fonts"
# resvg's own program draws the same scene with the same code; what is left is rounding of the size.
SVG_GOAL = 0.999
# Ours against hayro's own: no worse than by what a rounded edge of the canvas makes.
PDF_SLACK = 0.0005
LEAST_FILES = 10
# Figures in the docs may differ by this much from those of another poppler.
DRIFT = 0.01
# Files that resvg's program draws otherwise on purpose of ours, and why.
OTHERWISE = {
    "diagram": "Helvetica has a stand-in without serifs",
    "fonts": "Arial and its like have stand-ins without serifs",
    "embedded_png": "the attribute image-rendering is respected",
    "pixels": "the attribute image-rendering is respected",
    "noise": "turbulence has no more than nine octaves",
}


def ssim(ours, theirs):
    """Of two pictures, as far as both reach."""
    size = [min(pair) for pair in zip(ours.size, theirs.size)]
    ours, theirs = (image.crop((0, 0, *size)) for image in (ours, theirs))
    held = io.BytesIO()
    ours.save(held, "PNG")
    return speed.ssim(held, theirs)


def differing(ours, theirs):
    """Share of pixels that differ by more than 8 of 255."""
    if ours.size != theirs.size:
        return 1.0
    apart = np.abs(np.asarray(ours, np.int16) - np.asarray(theirs, np.int16)).max(axis=-1)
    return float((apart > 8).mean())


def resvg(program, source, size, folder):
    target = folder / "resvg.png"
    fonts = [word for file in sorted(FONTS.glob("*.ttf")) for word in ("--use-font-file", str(file))]
    families = {"serif": "Serif", "sans-serif": "Sans", "cursive": "Sans", "fantasy": "Sans"}
    named = [word for key, name in families.items() for word in (f"--{key}-family", f"DejaVu {name}")]
    named += ["--monospace-family", "DejaVu Sans Mono", "--font-family", "DejaVu Serif"]
    width, height = map(str, size)
    command = [program, "--skip-system-fonts", *fonts, *named, "-w", width, "-h", height]
    # Far from the tests' files, so that it finds no more than we hand over.
    alone = folder / "alone.svg"
    # resvg's program takes UTF-8 only.
    text = source.read_bytes()
    wide = text[:2] in (b"\xff\xfe", b"\xfe\xff")
    alone.write_bytes(text.decode("utf-16").encode() if wide else text)
    done = subprocess.run([*command, alone, target], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: resvg on {source}: {done.stderr}")
    return drawing.flat(target)


def pdftoppm(source, scale, folder):
    command = ["pdftoppm", "-png", "-singlefile", "-cropbox", "-r", f"{72 * scale:.6f}", source]
    # Our fonts for those that are not embedded: what else a machine has is different everywhere.
    fonts = folder / "fonts.conf"
    fonts.write_text(f"<fontconfig><dir>{FONTS}</dir><cachedir>{folder}</cachedir></fontconfig>")
    alone = {**os.environ, "FONTCONFIG_FILE": str(fonts)}
    subprocess.run([*command, folder / "poppler"], check=True, capture_output=True, env=alone)
    return drawing.flat(folder / "poppler.png")


def alone(drawn, kind, source, answer, folder):
    """The same page by the library alone, as its own example calls it."""
    same = {key: answer[key] for key in ("scale", "width", "height")}
    drawn.ask("bare", kind, source, target=folder / "alone.png", **same)
    return drawing.flat(folder / "alone.png")


def svgs(drawn, program, folder):
    """Name, SSIM against resvg, share of pixels that differ."""
    for source in sorted((drawing.SOURCES / "svg").glob("*.svg")):
        # At twice its size, where pixels of both are the same squares of the drawing; those of
        # absurd sizes are drawn as they usually are.
        usual = drawn.ask("draw", "svg", source)["facts"]["size"]
        double = {"scale": 2.0} if 8 <= min(usual) and max(usual) <= 2000 else {}
        ours, answer = drawn.picture("svg", source, **double)
        if program:
            theirs = resvg(program, source, ours.size, folder)
        else:
            theirs = alone(drawn, "svg", source, answer, folder)
        yield source.stem, ssim(ours, theirs), differing(ours, theirs)


def pdfs(drawn, folder):
    """Name, SSIM of ours against pdftoppm, of hayro's against pdftoppm, of ours against hayro's."""
    made = documents.make(folder / "made")
    kept = sorted((drawing.SOURCES / "pdf").glob("*.pdf"))
    for name, source in [*made, *((file.stem, file) for file in kept)]:
        if "refused" in drawn.may_refuse("draw", "pdf", source):
            continue
        ours, answer = drawn.picture("pdf", source)
        hayro = alone(drawn, "pdf", source, answer, folder)
        theirs = pdftoppm(source, answer["scale"], folder)
        yield name, ssim(ours, theirs), ssim(hayro, theirs), ssim(ours, hayro)


def judged(drawn, program, folder, missed):
    """A row for each kind, and the rows of the files."""
    each = [(name, *scores) for name, *scores in svgs(drawn, program, folder)]
    for name, score, _ in each:
        if score < SVG_GOAL and name not in OTHERWISE:
            missed.append(f"{name}.svg: SSIM {score:.4f} against resvg")
    fair = [row for row in each if row[0] not in OTHERWISE]
    worst = min(fair, key=lambda row: row[1])
    exact = sum(row[2] == 0 for row in fair)
    against = "resvg's program" if program else "resvg, the library alone"
    svg = [f"SVG against {against}", len(fair), mean(fair, 1), "1 by definition"]
    svg.append(f"{worst[0]} {worst[1]:.4f}; {exact} with no pixel off by more than 8")
    pages = list(pdfs(drawn, folder))
    for name, ours, hayro, _ in pages:
        if ours < hayro - PDF_SLACK:
            missed.append(f"{name}: SSIM {ours:.4f} against pdftoppm, hayro's own {hayro:.4f}")
    worst = min(pages, key=lambda row: row[1] - row[2])
    pdf = ["PDF against pdftoppm", len(pages), mean(pages, 1), mean(pages, 2)]
    pdf.append(f"{worst[0]} {worst[1]:.4f}, hayro's own {worst[2]:.4f}")
    for kind, rows in (("SVG", fair), ("PDF", pages)):
        if len(rows) < LEAST_FILES:
            missed.append(f"only {len(rows)} files of {kind}")
    return [svg, pdf], each, pages


def mean(rows, column):
    return f"{statistics.mean(row[column] for row in rows):.4f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", help="render_files; built when it is not given")
    for flag in ("--check", "--write-docs", "--all"):
        parser.add_argument(flag, action="store_true")
    arguments = parser.parse_args()
    program = shutil.which("resvg")
    drawn = drawing.Drawing(arguments.bin or drawing.build())
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        kinds, svg, pdf = judged(drawn, program, Path(folder), missed)
    if arguments.all:
        rows = ((name, f"{score:.4f}", f"{100 * off:.2f} %") for name, score, off in svg)
        drawing.table(["SVG", "SSIM against resvg", "pixels off by more than 8"], rows)
        rows = ((name, *(f"{score:.4f}" for score in scores)) for name, *scores in pdf)
        drawing.table(["PDF", "ours against pdftoppm", "hayro against pdftoppm", "ours against hayro"], rows)
    header = ["", "files", "SSIM, mean", "the library's own", "worst"]
    found = drawing.table(header, kinds)
    if arguments.write_docs:
        drawing.write_docs("fidelity.py", found)
    elif arguments.check and not readability.agree(drawing.in_docs("fidelity.py"), found, r"(0\.\d{4})", DRIFT):
        missed.append("docs/rendering.md says otherwise: bench/render/fidelity.py --write-docs")
    drawing.finish(missed)


if __name__ == "__main__":
    main()
