"""The crates whose code is in the program for a target, as cargo resolves them: no build scripts, no macros that run in
the compiler, nothing of other platforms. `manifest` names a module of `bindings` instead of the program."""
import functools, json, re

from facts import ROOT, cargo

LINE = re.compile(r"^(\S+) v(\S+)")


def chosen(manifest):
    """Arguments of cargo for a module, or for the program with the features of a release: all that are on by default."""
    return ("--manifest-path", str(ROOT / manifest)) if manifest else ("--package", "photic-cli")


def tree(target, edges, manifest=None):
    """Names and versions, from `cargo tree`."""
    lines = cargo("tree", *chosen(manifest), "--edges", edges, "--target", target, "--prefix", "none").splitlines()
    return {LINE.match(line).groups() for line in lines if LINE.match(line)}


@functools.cache
def linked(target, manifest=None):
    return tree(target, "normal,no-proc-macro", manifest)


@functools.cache
def metadata(target, manifest=None):
    of = chosen(manifest) if manifest else ()
    return json.loads(cargo("metadata", *of, "--format-version", "1", "--filter-platform", target))


def packages(target, manifest=None):
    """Cargo's description of each linked crate, sorted by name and version."""
    wanted = linked(target, manifest)
    found = [package for package in metadata(target, manifest)["packages"] if (package["name"], package["version"]) in wanted]
    missing = wanted - {(package["name"], package["version"]) for package in found}
    if missing:
        raise SystemExit(f"error: cargo describes none of {sorted(missing)}")
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def edges(target):
    """For each linked crate, the linked crates it depends on, by cargo's identifiers."""
    known = {package["id"]: package for package in packages(target)}
    return {node["id"]: sorted(dependency for dependency in node["dependencies"] if dependency in known)
            for node in metadata(target)["resolve"]["nodes"] if node["id"] in known}
