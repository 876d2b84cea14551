"""Flesch reading ease of the README, the tutorial, the how-to guides and the pages beside them, at least 50 each.

By textstat, whose version requirements.txt pins; syllables are those of the CMU dictionary. Counted are sentences:
paragraphs and the items of lists. Not counted: code, code in a line, tables, headings, comments, addresses of links.
"""
import pathlib, re, sys

import textstat

ROOT = pathlib.Path(__file__).resolve().parents[3]
LEAST = 50
PAGES = ["README.md", "docs/README.md", "docs/tutorial.md", "docs/troubleshooting.md", "docs/what-photic-changes.md", "docs/comparison.md"]


def sentences(text):
    """The sentences of a page: what a reader reads as prose."""
    text = re.sub(r"^\s*```.*?^\s*```$", "", text, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    prose = []
    for line in text.split("\n"):
        line = line.strip()
        if not line or line.startswith(("|", "#", "![")):
            continue
        line = re.sub(r"^([-*]|\d+\.) +", "", line)
        line = re.sub(r"`[^`]*`", "", line)
        line = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line)
        line = re.sub(r"[*_]{1,2}", "", line).strip()
        if not line:
            continue
        prose.append(line if line[-1] in ".!?" else line.rstrip(":;,") + ".")
    return " ".join(prose)


def main():
    pages = PAGES + sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/howto").glob("*.md"))
    low = 0
    for page in pages:
        prose = sentences((ROOT / page).read_text())
        ease = textstat.flesch_reading_ease(prose)
        words, count = textstat.lexicon_count(prose), textstat.sentence_count(prose)
        verdict = "" if ease >= LEAST else f"  BELOW {LEAST}"
        low += ease < LEAST
        print(f"{ease:6.1f}  {words:5} words  {words / max(count, 1):5.1f} a sentence  {page}{verdict}")
    print(f"{len(pages)} pages, {low} below {LEAST}")
    sys.exit(bool(low))


if __name__ == "__main__":
    main()
