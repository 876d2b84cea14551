"""The wheel of a target: `pip install photic` and `uvx photic` bring the command.

The program lies among the wheel's scripts, as tools like ruff and uv do it. With a wheel of the Python module of the
same version for the same platform, the program is added to it, so that one wheel brings both.
"""
import base64, hashlib, pathlib, zipfile

from contents import ours
from facts import LICENSE, REPOSITORY, SUMMARY, VERSION, level
from tarball import FILE, PROGRAM, zipped

INFO = f"photic-{VERSION}.dist-info"
MAX_BYTES = 15_000_000
"""Bytes of a wheel with module and command, at most. Those of the tests are packed loosely, and may have more."""


def wheel(content, module=None):
    """Name and bytes."""
    entry = content.entry
    if module:
        name, tree = opened(module, entry)
    else:
        platforms = ".".join(entry["wheel"])
        name, tree = f"photic-{VERSION}-py3-none-{platforms}.whl", described(entry)
    tree[f"photic-{VERSION}.data/scripts/{content.program_name}"] = (content.program, PROGRAM)
    tree[f"{INFO}/sboms/photic.cdx.json"] = (content.sbom, FILE)
    tree[f"{INFO}/licenses/THIRD-PARTY-NOTICES"] = (content.notices, FILE)
    tree = dict(sorted(tree.items()))
    tree[f"{INFO}/RECORD"] = (record(tree), FILE)
    data = zipped(tree)
    if module and level() == 9 and len(data) > MAX_BYTES:
        raise SystemExit(f"error: {name} has {len(data):,} bytes, more than {MAX_BYTES:,}")
    return name, data


def described(entry):
    """The description of a wheel that has only the command."""
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in entry["wheel"])
    metadata = f"""Metadata-Version: 2.4
Name: photic
Version: {VERSION}
Summary: {SUMMARY}
License-Expression: {LICENSE}
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
License-File: THIRD-PARTY-NOTICES
Project-URL: Source, {REPOSITORY}
Project-URL: Changelog, {REPOSITORY}/blob/main/CHANGELOG.md
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""
    return {
        f"{INFO}/METADATA": (metadata.encode() + ours("README.md"), FILE),
        f"{INFO}/WHEEL": (f"Wheel-Version: 1.0\nGenerator: photic release/wheel.py\nRoot-Is-Purelib: false\n{tags}".encode(),
                          FILE),
        f"{INFO}/licenses/LICENSE-APACHE": (ours("LICENSE-APACHE"), FILE),
        f"{INFO}/licenses/LICENSE-MIT": (ours("LICENSE-MIT"), FILE),
    }


def opened(module, entry):
    """Name and files of a wheel of the module, which must be of this version and platform."""
    path = pathlib.Path(module)
    name, version, *_, platforms = path.stem.split("-")
    cpu = entry["rust"].split("-")[0] if "linux" in entry["rust"] else entry["wheel"][0]
    if (name, version) != ("photic", VERSION) or cpu not in platforms:
        raise SystemExit(f"error: {path.name} is no wheel of photic {VERSION} for {entry['rust']}")
    with zipfile.ZipFile(path) as archive:
        tree = {info.filename: (archive.read(info), (info.external_attr >> 16) & 0o777 or FILE)
                for info in archive.infolist() if not info.is_dir()}
    tree.pop(f"{INFO}/RECORD")
    return path.name, tree


def record(tree):
    lines = []
    for path, (data, _) in tree.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    return ("".join(lines) + f"{INFO}/RECORD,,\n").encode()

