"""What the three benches share: the program that draws, tables, and docs/rendering.md."""

import json
import os
import subprocess
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
CACHE = Path(os.environ.get("PHOTIC_CACHE", Path.home() / ".cache/photic")) / "render"
DOCS = ROOT / "docs/rendering.md"
SOURCES = ROOT / "crates/photic-render/tests/sources"


def build():
    """`examples/render_files.rs`, and beside it the worker that it starts."""
    names = ["render_files", "render_worker"]
    examples = [word for name in names for word in ("--example", name)]
    command = ["cargo", "build", "--quiet", "--release", "--workspace", *examples]
    output = subprocess.run(
        [*command, "--message-format=json"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    ).stdout
    for line in output.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == names[0]:
            return message["executable"]
    sys.exit("error: cargo named no executable")


class Drawing:
    """A process of ours that draws file after file."""

    def __init__(self, binary):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([binary], stdin=pipe, stdout=pipe, text=True)

    def ask(self, how, kind, source, **options):
        """What was answered; a refusal ends the bench, for the sources here are harmless."""
        answer = self.may_refuse(how, kind, source, **options)
        if "refused" in answer:
            sys.exit(f"error: {source}: {answer['refused']['says']}")
        return answer

    def may_refuse(self, how, kind, source, **options):
        job = {"how": how, "kind": kind, "source": str(source), **options}
        print(json.dumps(job, default=str), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def picture(self, kind, source, **options):
        """A page as the model gets it, over white, and the answer."""
        CACHE.mkdir(parents=True, exist_ok=True)
        target = CACHE / f"{os.getpid()}.png"
        answer = self.ask("draw", kind, source, target=target, **options)
        image = flat(target)
        target.unlink()
        return image, answer


def flat(path):
    """A picture over white."""
    image = Image.open(path).convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")


def table(header, rows):
    """Markdown, printed while it grows."""
    lines = [row_of(header), "|" + "---|" * len(header)]
    print("\n".join(lines), flush=True)
    for row in rows:
        lines.append(row_of(row))
        print(lines[-1], flush=True)
    print(flush=True)
    return "\n".join(lines)


def row_of(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def markers(script):
    return f"<!-- begin: bench/render/{script} --write-docs -->", "<!-- end -->"


def in_docs(script):
    """What docs/rendering.md says between the marks of a script."""
    begin, end = markers(script)
    text = DOCS.read_text()
    start = text.index(begin) + len(begin)
    return text[start : text.index(end, start)].strip()


def write_docs(script, found):
    begin, _ = markers(script)
    text = DOCS.read_text()
    start = text.index(begin) + len(begin)
    DOCS.write_text(f"{text[:start]}\n{found}\n{text[text.index('<!-- end -->', start):]}")


def finish(missed):
    if missed:
        sys.exit("\n".join(f"missed: {what}" for what in missed))
