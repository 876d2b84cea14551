"""The wheels of a target: `pip install photic` and `uvx photic` bring the command.

    wheel.py TARGET PROGRAM FOLDER [--module WHEEL]     writes them; PROGRAM runs on this machine

The program lies among the wheel's scripts, as tools like ruff and uv do it. With a wheel of the Python module of the
same version for the same platform, the program is added to it, so that one wheel brings both. Where that one cannot be
installed, on Linux without glibc, a second wheel brings the command alone.
"""
import argparse, base64, hashlib, pathlib, zipfile

import notices
from contents import contents, ours
from facts import LICENSE, REPOSITORY, SUMMARY, VERSION, target
from tarball import FILE, PROGRAM, zipped

INFO = f"photic-{VERSION}.dist-info"


def wheels(content, module=None):
    """Name and bytes of each."""
    platforms = content.entry["wheel"]
    if not module:
        return [packed(content, *described(platforms))]
    elsewhere = [platform for platform in platforms if platform.startswith("musllinux")]
    alone = [packed(content, *described(elsewhere))] if elsewhere else []
    return [packed(content, *opened(module, content.entry), notices.wheel(content.entry)), *alone]


def packed(content, name, tree, legal=None):
    """The files of a wheel and the program."""
    tree[f"photic-{VERSION}.data/scripts/{content.program_name}"] = (content.program, PROGRAM)
    tree[f"{INFO}/sboms/photic.cdx.json"] = (content.sbom, FILE)
    tree[f"{INFO}/licenses/THIRD-PARTY-NOTICES"] = (legal or content.notices, FILE)
    tree = dict(sorted(tree.items()))
    tree[f"{INFO}/RECORD"] = (record(tree), FILE)
    return name, zipped(tree)


def described(platforms):
    """Name and description of a wheel that has only the command."""
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms)
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
    return f"photic-{VERSION}-py3-none-{'.'.join(platforms)}.whl", {
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--module")
    options = parser.parse_args()
    content = contents(target(options.target), options.program, options.program)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, data in wheels(content, options.module):
        (options.folder / name).write_bytes(data)
        print(f"{len(data):>12,} {name}")


if __name__ == "__main__":
    main()
