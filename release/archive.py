"""The archive of a target: a folder with the program, completions, the man page, licenses and the bill of materials."""
from contents import SHELLS, ours
from facts import archive_name, stem
from tarball import FILE, PROGRAM, gz, tar, zipped


def archive(content):
    """Name and bytes."""
    tree = {
        content.program_name: (content.program, PROGRAM),
        "man/photic.1": (content.man, FILE),
        "THIRD-PARTY-NOTICES": (content.notices, FILE),
        "photic.cdx.json": (content.sbom, FILE),
    }
    for shell, script in content.completions.items():
        tree[f"completions/{SHELLS[shell][0]}"] = (script, FILE)
    for name in ("README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"):
        tree[name] = (ours(name), FILE)
    folder = stem(content.entry)
    if content.entry["archive"] == "zip":
        data = zipped({f"{folder}/{path}": tree[path] for path in sorted(tree)})
    else:
        data = gz(tar({f"{folder}/{path}": file for path, file in tree.items()}))
    return archive_name(content.entry), data
