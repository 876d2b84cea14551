"""The Debian package of a target: the static program, its man page, completions and copyright. It has no scripts and
depends on nothing."""
import gzip, io

from contents import SHELLS, ours
from facts import LICENSE, REPOSITORY, SUMMARY, VERSION, commit_time
from tarball import FILE, PROGRAM, gz, tar, xz

MAINTAINER = "photic developers <photic-dev@users.noreply.github.com>"


def debian(content):
    """Name and bytes."""
    architecture = content.entry["debian"]
    doc = "usr/share/doc/photic"
    tree = {
        "usr/bin/photic": (content.program, PROGRAM),
        "usr/share/man/man1/photic.1.gz": (small(content.man), FILE),
        f"{doc}/changelog.gz": (small(ours("CHANGELOG.md")), FILE),
        f"{doc}/copyright": (copyright_of(content), FILE),
        f"{doc}/photic.cdx.json": (content.sbom, FILE),
    }
    for shell, script in content.completions.items():
        if SHELLS[shell][1]:
            tree[SHELLS[shell][1]] = (script, FILE)
    kib = sum(-(-len(data) // 1024) for data, _ in tree.values())
    control = f"""Package: photic
Version: {VERSION}
Architecture: {architecture}
Maintainer: {MAINTAINER}
Installed-Size: {kib}
Section: utils
Priority: optional
Recommends: ca-certificates
Suggests: chromium, libreoffice-core-nogui, bubblewrap
Homepage: {REPOSITORY}
Description: {SUMMARY}
 photic reads requests to model providers, finds what hides pictures from the
 model, and repairs it: on the command line, as a gateway and as an MCP server.
"""
    parts = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", gz(tar({"control": (control.encode(), FILE)}, "./"))),
        ("data.tar.xz", xz(tar(tree, "./"))),
    ]
    return f"photic_{VERSION}_{architecture}.deb", ar(parts)


def ar(parts):
    out = io.BytesIO()
    out.write(b"!<arch>\n")
    for name, data in parts:
        out.write(f"{name:<16}{commit_time():<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode())
        out.write(data + b"\n" * (len(data) % 2))
    return out.getvalue()


def small(data):
    """Pages are compressed as Debian's policy says, whatever the test of packaging asks for."""
    return gzip.compress(data, 9, mtime=0)


def copyright_of(content):
    return b"\n".join([
        f"photic, {LICENSE}\nSource: {REPOSITORY}\n\nThe MIT license:\n".encode(), ours("LICENSE-MIT"),
        b"The Apache license 2.0 is in /usr/share/common-licenses/Apache-2.0.\n", content.notices])
