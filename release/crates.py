"""The crates whose code is in the program for a target, as cargo resolves them: no build scripts, no macros that run in
the compiler, nothing of other platforms."""
import functools, json, re

from facts import cargo

LINE = re.compile(r"^(\S+) v(\S+)")


@functools.cache
def features():
    """Arguments of cargo for the features of a release: all that are on by default."""
    return ("--package", "photic-cli")


def tree(target, edges):
    """Names and versions, from `cargo tree`."""
    lines = cargo("tree", *features(), "--edges", edges, "--target", target, "--prefix", "none").splitlines()
    return {LINE.match(line).groups() for line in lines if LINE.match(line)}


@functools.cache
def linked(target):
    return tree(target, "normal,no-proc-macro")


@functools.cache
def metadata(target):
    return json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", target))


def packages(target):
    """Cargo's description of each linked crate, sorted by name and version."""
    wanted = linked(target)
    found = [package for package in metadata(target)["packages"] if (package["name"], package["version"]) in wanted]
    missing = wanted - {(package["name"], package["version"]) for package in found}
    if missing:
        raise SystemExit(f"error: cargo describes none of {sorted(missing)}")
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def edges(target):
    """For each linked crate, the linked crates it depends on, by cargo's identifiers."""
    known = {package["id"]: package for package in packages(target)}
    return {node["id"]: sorted(dependency for dependency in node["dependencies"] if dependency in known)
            for node in metadata(target)["resolve"]["nodes"] if node["id"] in known}
