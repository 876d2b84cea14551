"""What is named in several places is named alike: archives by `cargo binstall`, the formula and the installers.

    names.py FOLDER [RUBY]     what `release/finish.py` leaves; archives may be missing
"""
import hashlib, pathlib, re, subprocess, sys, tempfile, tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "release"))
import facts, finish  # noqa: E402

FOLDER = pathlib.Path(sys.argv[1])


def binstall():
    """Templates of `cargo binstall`, filled in as its documentation says."""
    manifest = tomllib.loads((ROOT / "crates/photic-cli/Cargo.toml").read_text())["package"]["metadata"]["binstall"]
    for entry in facts.TARGETS.values():
        for target in [entry["rust"], *entry.get("binstall", [])]:
            chosen = manifest | manifest["overrides"].get(target, {})
            values = {"repo": facts.REPOSITORY, "version": facts.VERSION, "target": target, "bin": "photic",
                      "binary-ext": ".exe" if "windows" in target else ""}

            def filled(template):
                return re.sub(r"{ ([\w-]+) }", lambda match: values[match[1]], template)
            assert filled(chosen["pkg-url"]) == f"{finish.DOWNLOADS}/{facts.archive_name(entry)}", target
            assert filled(chosen["bin-dir"]) == f"{facts.stem(entry)}/{facts.program_name(entry)}", target
            assert chosen["pkg-fmt"] == {"tar.gz": "tgz", "zip": "zip"}[entry["archive"]], target


def formula():
    """With every archive there, its checksum stands beside its address."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sums = {}
        for entry in facts.TARGETS.values():
            name = facts.archive_name(entry)
            (folder / name).write_bytes(name.encode())
            sums[f"{finish.DOWNLOADS}/{name}"] = hashlib.sha256(name.encode()).hexdigest()
        text = finish.formula(folder)
        found = dict(re.findall(r'url "([^"]+)"\n\s+sha256 "([^"]+)"', text))
        unix = {address: checksum for address, checksum in sums.items() if not address.endswith(".zip")}
        assert found == unix, found
        assert "@" not in re.sub(r"\S+@\S+\.\S+", "", text), text
        if sys.argv[2:]:
            (folder / "photic.rb").write_text(text)
            subprocess.run([sys.argv[2], "-c", folder / "photic.rb"], check=True, stdout=subprocess.DEVNULL)


def installers():
    for name in ("install.sh", "install.ps1"):
        text = (FOLDER / name).read_text()
        assert not re.search(r"@[A-Z]+@", text) and finish.DOWNLOADS in text, name
        if name.endswith(".sh"):
            unix = {name for name in facts.TARGETS if "windows" not in name}
            assert set(re.findall(r"echo (\S+-\S+-\S+) ;;", text)) == unix
        else:
            assert f"photic-$version-{'x86_64-pc-windows-gnu'}" in text


def sums():
    listed = dict(reversed(line.split("  ")) for line in (FOLDER / "SHA256SUMS").read_text().splitlines())
    there = {path.name for path in FOLDER.iterdir() if path.is_file()} - {"SHA256SUMS", "NOTES.md"}
    assert set(listed) == there, set(listed) ^ there
    for name, checksum in listed.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == checksum, name
    return len(listed)


binstall()
formula()
installers()
print(f"names: {len(facts.TARGETS)} targets alike for binstall, formula and installers; {sums()} checksums")
