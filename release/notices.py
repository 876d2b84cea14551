"""The licenses of what is in a package and not ours: crates that are linked, fonts, grammars of the highlighter.

    notices.py TARGET > THIRD-PARTY-NOTICES

Each text is printed once, with the crates it comes from. A crate without a license file is named with its expression.
"""
import collections, pathlib, re, struct, sys, zlib

import crates
from facts import ROOT, target

LEGAL = re.compile(r"(?i)^(licen[cs]e|copying|copyright|notice|authors|unlicense)s?([-_.].*)?$|[-_.](licen[cs]e|notice)s?(\.\w+)?$")
RULE = "-" * 80


def legal_files(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    found = {path for path in folder.iterdir() if path.is_file() and LEGAL.search(path.name) and path.suffix != ".rs"}
    named = package.get("license_file")
    if named:
        found.add(folder / named)
    # C that comes with a crate has its license in its own folder.
    for pattern in ("*/LICENSE*", "*/COPYING*", "vendor/*/LICENSE*"):
        found |= {path for path in folder.glob(pattern) if path.is_file()}
    return sorted(found)


def text_of(path):
    lines = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def fonts():
    for path in sorted((ROOT / "crates/photic-render/fonts").glob("LICENSE*")):
        yield f"fonts ({path.name})", text_of(path)


def grammars(package):
    """The texts in the acknowledgements of `two-face`, which are packed: kind, text and path of each, in two lists."""
    packed = pathlib.Path(package["manifest_path"]).parent / "generated/acknowledgements_full.bin"
    data, at = zlib.decompress(packed.read_bytes()), 0

    def number(form):
        nonlocal at
        value, = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return value

    def words():
        nonlocal at
        length = number("<Q")
        at += length
        return data[at - length:at].decode()

    for _ in range(2):
        for _ in range(number("<Q")):
            number("<I")
            text, path = words(), words()
            yield f"grammar ({path})", "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    if at != len(data):
        raise SystemExit(f"error: {packed} has a form that this script does not know")


def program(entry):
    """Of a package with the program."""
    return notices((entry["rust"], None))


def wheel(entry):
    """Of a wheel with the program and the Python module."""
    return notices((entry["rust"], None), (entry["addon"], "bindings/python/Cargo.toml"))


def addon(entry):
    """Of the addon of the npm module."""
    return notices((entry["addon"], "bindings/node/Cargo.toml"))


def webassembly():
    """Of the npm module without an addon."""
    return notices(("wasm32-wasip1", "bindings/wasm/Cargo.toml"))


def notices(*parts):
    """The whole text, for parts given as the target and the manifest (`crates.py`). Fails for a crate that names no
    license at all."""
    packages = {(package["name"], package["version"]): package for part in parts for package in crates.packages(*part)}
    theirs = [package for _, package in sorted(packages.items()) if package["source"]]
    texts, without = collections.defaultdict(list), []
    for package in theirs:
        label = f"{package['name']} {package['version']}"
        if not package["license"] and not package.get("license_file"):
            raise SystemExit(f"error: {label} names no license")
        files = legal_files(package)
        for text in sorted({text_of(path) for path in files} - {""}):
            texts[text].append(label)
        if not files:
            without.append(f"{label}: {package['license']}")
        if package["name"] == "two-face":
            for owner, text in grammars(package):
                texts[text].append(owner)
    if any(name == "photic-render" for name, _ in packages):
        for owner, text in fonts():
            texts[text].append(owner)
    lines = [f"photic contains the work of others. What is built for {parts[0][0]} has code of these {len(theirs)} packages:", ""]
    lines += [f"  {one['name']} {one['version']}  {one['license'] or 'see below'}" for one in theirs]
    lines += ["", "These have no license file in their package; their licenses are as they say:", ""]
    lines += [f"  {one}" for one in without]
    for text, owners in sorted(texts.items(), key=lambda item: (item[1], item[0])):
        lines += ["", RULE, *wrapped(sorted(set(owners))), RULE, "", text]
    return ("\n".join(lines) + "\n").encode()


def wrapped(owners):
    line = ""
    for owner in owners:
        if line and len(line) + len(owner) > 76:
            yield line + ","
            line = ""
        line = f"{line}, {owner}" if line else owner
    yield line


if __name__ == "__main__":
    sys.stdout.buffer.write(program(target(sys.argv[1])))
