"""Checks every relative link and anchor: of the Markdown pages (`links.py pages`), or of a built book (`links.py FOLDER`).

Addresses of other hosts are not asked; those that lead to this repository must name a file that exists.
"""
import html.parser, pathlib, re, subprocess, sys, urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
REPOSITORY = re.search(r'^repository = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


class Html(html.parser.HTMLParser):
    """The ids and links of a page."""

    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(filter(None, [attributes.get("id"), attributes.get("name") if tag == "a" else None]))
        for key in ("href", "src"):
            # The theme itself: styles, scripts, icons.
            if attributes.get(key) and tag in ("a", "img"):
                self.links.append(attributes[key])


def slug(heading):
    """The anchor that GitHub and mdBook give a heading."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return "".join("-" if c == " " else c for c in text if c.isalnum() or c in " -_")


def markdown(path):
    """The anchors and links of a Markdown page, code apart."""
    ids, links, fenced = set(), [], False
    for line in path.read_text().split("\n"):
        if re.match(r"\s*```", line):
            fenced = not fenced
            continue
        if fenced:
            continue
        if heading := re.match(r"#+ +(.*)", line):
            ids.add(slug(heading[1]))
        ids.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
        links += re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line))
    return ids, links


def pages():
    """The Markdown files that git knows, and those that it will."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    own = [name for name in listed.stdout.split("\n") if name and "tests/sources" not in name]
    return [path for path in (ROOT / name for name in own) if path.is_file()]


def check(files, read):
    """Returns the dead links of the files."""
    known = {path.resolve(): read(path) for path in files}
    dead = []
    for path, (_, links) in known.items():
        for link in links:
            if link.startswith(f"{REPOSITORY}/blob/") or link.startswith(f"{REPOSITORY}/tree/"):
                name = urllib.parse.unquote(link.removeprefix(REPOSITORY).split("#")[0].split("/", 3)[3])
                if not (ROOT / name).exists():
                    dead.append((path, link, "not in the repository"))
                continue
            if re.match(r"[a-z]+:", link) or link.startswith("//"):
                continue
            target, _, anchor = link.partition("#")
            to = (path.parent / urllib.parse.unquote(target.split("?")[0])).resolve() if target else path
            if to.is_dir() and (to / "index.html") in known:
                to = to / "index.html"
            if not to.exists():
                dead.append((path, link, "no such file"))
            elif anchor and to in known and urllib.parse.unquote(anchor) not in known[to][0]:
                dead.append((path, link, "no such anchor"))
    return dead, sum(len(links) for _, links in known.values())


def html_page(path):
    page = Html()
    page.feed(path.read_text())
    return page.ids, page.links


def main():
    if sys.argv[1] == "pages":
        files, read = pages(), markdown
    else:
        # The page for printing holds all others, with links from where they were.
        whole = {"print.html", "404.html", "toc.html"}
        files = [path for path in pathlib.Path(sys.argv[1]).rglob("*.html") if path.name not in whole]
        read = html_page
    assert len(files) > 60, f"only {len(files)} pages"
    dead, links = check(files, read)
    for path, link, why in dead:
        print(f"{path}: {link}: {why}")
    print(f"{len(files)} pages, {links} links, {len(dead)} dead")
    sys.exit(bool(dead))


main()
