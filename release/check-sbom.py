"""Compares a bill of materials with the lock file, with what cargo resolves today, and with the list in the program.

    check-sbom.py TARGET SBOM [PROGRAM]

Fails if a linked crate is missing, if a crate is named that is not linked, if a checksum is not that of the lock file,
or if a crate that `cargo auditable` wrote into PROGRAM is not in the bill.
"""
import json, pathlib, sys

import crates
from audit import crates_of
from facts import target
from sbom import lock_checksums


def listed(bill):
    """Checksum of each component, by name and version."""
    found = {(one["name"], one["version"]): next((item["content"] for item in one.get("hashes", [])), None)
             for one in bill["components"]}
    if len(found) != len(bill["components"]):
        raise SystemExit("error: the bill names a crate twice")
    return found


def complaints(name, bill, program):
    wanted = {one for one in crates.linked(name) if one[0] != "photic-cli"}
    found, lock = listed(bill), lock_checksums()
    for crate in sorted(wanted - found.keys()):
        yield f"{' '.join(crate)} is linked and not in the bill"
    for crate in sorted(found.keys() - wanted):
        yield f"{' '.join(crate)} is in the bill and not linked"
    for crate, checksum in sorted(found.items()):
        if crate not in lock or lock[crate] != checksum:
            yield f"{' '.join(crate)} is not the one of the lock file"
    for entry in bill["dependencies"]:
        for reference in entry["dependsOn"]:
            if reference not in {one["purl"] for one in bill["components"]}:
                yield f"{entry['ref']} depends on {reference}, which is not in the bill"
    if program:
        yield from against_program(name, found, program)


def against_program(name, found, program):
    packages = crates_of(program)
    if packages is None:
        yield "the program has no list of crates: build it with `cargo auditable`"
        return
    built = {(one["name"], one["version"]) for one in packages}
    runs = {(one["name"], one["version"]) for one in packages if one.get("kind", "runtime") == "runtime"}
    for crate in sorted(found.keys() - built):
        yield f"{' '.join(crate)} is in the bill and not in the program's list"
    # The list counts macros, which run in the compiler, among what runs.
    macros = crates.tree(name, "normal") - crates.linked(name)
    for crate in sorted(runs - found.keys() - macros):
        if crate[0] != "photic-cli":
            yield f"{' '.join(crate)} is in the program's list and not in the bill"


def main(name, sbom, program=None):
    bill = json.loads(pathlib.Path(sbom).read_text())
    wrong = list(complaints(target(name)["rust"], bill, program))
    for line in wrong:
        print(line)
    if wrong:
        sys.exit(1)
    beside = "the lock file and the program" if program else "the lock file"
    print(f"sbom: {len(bill['components'])} crates of {name}, the same as in {beside}")


if __name__ == "__main__":
    main(*sys.argv[1:])
