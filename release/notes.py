"""The notes of a release: the part of CHANGELOG.md about its version, and how to check what was downloaded.

    notes.py [VERSION]
"""
import re, sys

from facts import REPOSITORY, ROOT, VERSION

VERIFY = """
## Installing and checking

`README.md` says how to install. Every file below is listed in `SHA256SUMS`, and GitHub signed where and from which
commit it was built:

```
gh attestation verify photic-{version}-x86_64-unknown-linux-musl.tar.gz --repo {owner}
```

Each archive, wheel and package holds a CycloneDX bill of materials; the programs name their crates themselves
(`cargo audit bin photic`).
"""


def section(version):
    """The lines under the heading of a version; `Unreleased` stands for a version that has no heading yet."""
    parts = re.split(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[1:]
    found = {heading.split()[0].strip("[]"): body for heading, body in zip(parts[::2], parts[1::2])}
    return found.get(version, found.get("Unreleased", "")).strip()


def notes(version):
    owner = REPOSITORY.removeprefix("https://github.com/")
    text = re.sub(r"\]\((?!https?:|#)([^)]+)\)", rf"]({REPOSITORY}/blob/v{version}/\1)", section(version))
    return f"{text}\n{VERIFY.format(version=version, owner=owner)}"


if __name__ == "__main__":
    print(notes(sys.argv[1] if len(sys.argv) > 1 else VERSION), end="")
