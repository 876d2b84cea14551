"""Makes what belongs to all targets, from a folder that `package.py` filled: the npm package `photic`, the Homebrew
formula, the installers, the notes of the release, and the checksums.

    finish.py FOLDER [--npm-module MODULE] [--partial]

`--partial` lets archives be missing: for a trial on a machine that cannot build for all targets. The formula is then
left out, and the installers name only what is there.
"""
import argparse, hashlib, pathlib, re, shutil, subprocess

import npm, notes
from facts import REPOSITORY, ROOT, SUMMARY, TARGETS, VERSION, archive_name

DOWNLOADS = f"{REPOSITORY}/releases/download/v{VERSION}"


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def formula(folder):
    text = (ROOT / "release/homebrew.rb").read_text()
    text = text.replace("# The formula of the tap. `release/finish` fills in version and checksums.\n", "")
    for word, value in (("SUMMARY", SUMMARY), ("REPOSITORY", REPOSITORY), ("VERSION", VERSION)):
        text = text.replace(f"@{word}@", value)

    def filled(match):
        name = archive_name(TARGETS[match[2]])
        return f"{DOWNLOADS}/{name}" if match[1] == "URL" else sha256(folder / name)
    return re.sub(r"@(URL|SHA256):([\w-]+)@", filled, text)


def pack(folder):
    """`npm pack` of every npm package; the tarballs lie beside the other artifacts."""
    for package in sorted((folder / "npm").iterdir()):
        subprocess.run(["npm", "pack", "--silent", "--pack-destination", folder.resolve()], cwd=package, check=True,
                       stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--npm-module")
    parser.add_argument("--partial", action="store_true")
    options = parser.parse_args()
    folder = options.folder
    missing = [archive_name(entry) for entry in TARGETS.values() if not (folder / archive_name(entry)).exists()]
    if missing and not options.partial:
        raise SystemExit(f"error: {folder} has no {', '.join(missing)}")
    npm.main_package(folder / "npm", options.npm_module)
    pack(folder)
    if not missing:
        (folder / "photic.rb").write_text(formula(folder))
    for name in ("install.sh", "install.ps1"):
        text = (ROOT / "release" / name).read_text().replace("@VERSION@", VERSION).replace("@REPOSITORY@", REPOSITORY)
        (folder / name).write_text(text)
    (folder / "install.sh").chmod(0o755)
    (folder / "NOTES.md").write_text(notes.notes(VERSION))
    shutil.rmtree(folder / "npm")
    listed = sorted(path for path in folder.iterdir() if path.is_file() and path.name not in ("SHA256SUMS", "NOTES.md"))
    (folder / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.name}\n" for path in listed))
    print(f"{len(listed)} files, {sum(path.stat().st_size for path in listed) / 1e6:.1f} MB"
          + (f"; missing: {', '.join(missing)}" if missing else ""))


if __name__ == "__main__":
    main()
