"""Preprocessor of mdBook: writes the version into the manual, and leads links to files outside of docs/ to the repository.

mdBook calls it with `supports RENDERER`, or gives it [context, book] as JSON and takes the book back.
"""
import json, pathlib, posixpath, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^\s*```")


def from_cargo(key):
    """Returns a value of [workspace.package] in Cargo.toml."""
    return re.search(rf'^{key} = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


VERSION, REPOSITORY = from_cargo("version"), from_cargo("repository")


def led(target, page):
    """Returns the address of a link: a file outside of docs/ is in the repository, at the tag of this version."""
    path, mark, anchor = target.partition("#")
    if not path or "://" in path or path.startswith("mailto:"):
        return target
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
    if path.startswith("docs/"):
        # mdBook calls the page of a README `index.html`, and does not say so to links.
        return re.sub(r"README\.md(?=$|#)", "index.md", target)
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/v{VERSION}/{path}{mark}{anchor}"


def chapter(content, page):
    """Returns the text of a chapter with its links led and the version written."""
    lines, fenced = [], False
    for line in content.split("\n"):
        fenced ^= bool(FENCE.match(line))
        if not fenced:
            line = LINK.sub(lambda link: link[1] + led(link[2], page) + link[3], line)
            line = line.replace("<!-- version -->", f"This is the manual of photic {VERSION}.")
        lines.append(line)
    return "\n".join(lines)


def walk(node):
    """Changes every chapter of a book."""
    if isinstance(node, dict):
        if isinstance(node.get("content"), str) and node.get("path"):
            node["content"] = chapter(node["content"], node.get("source_path") or node["path"])
        for value in node.values():
            walk(value)
    elif isinstance(node, list):
        for value in node:
            walk(value)


if __name__ == "__main__":
    if sys.argv[1:2] == ["supports"]:
        sys.exit(0)
    _, book = json.load(sys.stdin)
    walk(book)
    json.dump(book, sys.stdout)
