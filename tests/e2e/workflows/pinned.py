"""What comes from elsewhere is named by a digest, and what we promise in several places is said alike.

    pinned.py
"""
import pathlib, re, sys, tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
OURS = "ghcr.io/photic-dev/photic"
complaints = []


def lines(pattern, *folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if not path.is_file() or path.is_symlink():
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if match := re.search(pattern, line):
                    yield f"{path.relative_to(ROOT)}:{number}", match


def actions():
    """A hash, with the version it is, and one hash for each action."""
    seen = {}
    for where, match in lines(r"^\s*(?:- )?uses:\s*([^\s#]+)\s*(#.*)?$", ".github"):
        name, _, version = match[1].partition("@")
        if not re.fullmatch(r"[0-9a-f]{40}", version) or not re.fullmatch(r"# v\d+\.\d+\.\d+", match[2] or ""):
            complaints.append(f"{where}: `{match[1]}` is no action by its hash with its version in a comment")
        if seen.setdefault(name, version) != version:
            complaints.append(f"{where}: another version of {name} than elsewhere")
    return len(seen)


def images():
    """By digest, but for stages of the same file, `scratch`, and our own, which a release names."""
    count, stages = 0, {"scratch", "${BUILDER}"}
    for _, match in lines(r"^FROM \S+ AS (\S+)", "deploy"):
        stages.add(match[1])
    for where, match in lines(r"^(?:FROM|ARG BUILDER=|\s*image:)\s*([\w./:${}@-]+)", "deploy/container", "deploy/compose"):
        count += 1
        image = match[1]
        ours = image.startswith("${PHOTIC_IMAGE:-" + OURS)
        if image not in stages and not ours and not re.search(r"@sha256:[0-9a-f]{64}$", image):
            complaints.append(f"{where}: `{image}` is not named by a digest")
    return count


def versions():
    """One version of photic and one of Rust, wherever they are named."""
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    version, rust = workspace["version"], workspace["rust-version"]
    for where, match in lines(re.escape(OURS) + r":(\d+\.\d+\.\d+)", "deploy", "docs"):
        if match[1] != version:
            complaints.append(f"{where}: version {match[1]}, and the workspace is {version}")
    chart = (ROOT / "deploy/helm/photic/Chart.yaml").read_text()
    if not re.search(rf"^appVersion: \"?{re.escape(version)}\"?$", chart, re.M):
        complaints.append(f"deploy/helm/photic/Chart.yaml: appVersion is not {version}")
    if f"rust:{rust}-" not in (ROOT / "deploy/container/Containerfile").read_text():
        complaints.append(f"deploy/container/Containerfile: the builder is not Rust {rust}")
    if f"Rust {rust}" not in (ROOT / "VERSIONING.md").read_text():
        complaints.append(f"VERSIONING.md: does not say Rust {rust}")
    return version, rust


count_of_actions, count_of_images, (version, rust) = actions(), images(), versions()
for complaint in complaints:
    print(complaint)
print(f"pinned: {count_of_actions} actions, {count_of_images} images; photic {version}, Rust {rust}")
sys.exit(bool(complaints))
