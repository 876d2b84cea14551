"""The bill of materials of the program for a target, as CycloneDX 1.6: every crate that is linked, its license and the
checksum that the lock file has of it. The same commit gives the same bytes.

    sbom.py TARGET > photic.cdx.json
"""
import datetime, hashlib, json, sys, tomllib, uuid

import crates
from facts import LICENSE, REPOSITORY, ROOT, VERSION, commit_time, target


def lock_checksums():
    """Checksums of the lock file, by name and version; none for crates of this workspace."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, checksums):
    found = {"type": "library", "bom-ref": purl(package), "name": package["name"], "version": package["version"],
             "purl": purl(package)}
    checksum = checksums[package["name"], package["version"]]
    if checksum:
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["license"]:
        # Old manifests write `MIT/Apache-2.0`.
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if package["repository"]:
        found["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return found


def bill(name):
    checksums, packages = lock_checksums(), crates.packages(name)
    by_id = {package["id"]: package for package in packages}
    [program] = [package for package in packages if package["name"] == "photic-cli"]
    moment = datetime.datetime.fromtimestamp(commit_time(), datetime.timezone.utc)
    found = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {
            "timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tools": {"components": [{"type": "application", "name": "release/sbom.py", "version": VERSION}]},
            "component": {
                "type": "application", "bom-ref": purl(program), "name": "photic", "version": VERSION,
                "purl": purl(program), "licenses": [{"expression": LICENSE}],
                "externalReferences": [{"type": "vcs", "url": REPOSITORY}],
                "properties": [{"name": "photic:target", "value": name}],
            },
        },
        "components": [component(package, checksums) for package in packages if package is not program],
        "dependencies": sorted(
            ({"ref": purl(by_id[one]), "dependsOn": sorted(purl(by_id[other]) for other in others)}
             for one, others in crates.edges(name).items()), key=lambda entry: entry["ref"]),
    }
    digest = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
    found["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, REPOSITORY + '#' + digest)}"
    return (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode()


if __name__ == "__main__":
    sys.stdout.buffer.write(bill(target(sys.argv[1])["rust"]))
