"""Makes every package of one target from its program.

    package.py TARGET PROGRAM FOLDER [--native PROGRAM] [--wheel WHEEL] [--addon ADDON]

FOLDER then holds the archive, the wheel, the Debian package where there is one, the bill of materials, and below `npm`
the folder of the platform package. `--native` is a program of the same commit that runs here, if PROGRAM does not: it
prints the man page and the completions. `--wheel` is a wheel of the Python module, to which the program is added, and
`--addon` the addon of the npm module, which gets a package of its own.
Packages are the same bytes whenever the program and the commit are the same.
"""
import argparse, pathlib

import npm
from archive import archive
from contents import contents
from debian import debian
from facts import target
from wheel import wheels

parser = argparse.ArgumentParser()
parser.add_argument("target")
parser.add_argument("program")
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--native")
parser.add_argument("--wheel")
parser.add_argument("--addon")
options = parser.parse_args()

entry = target(options.target)
content = contents(entry, options.program, options.native or options.program)
options.folder.mkdir(parents=True, exist_ok=True)
files = [archive(content), *wheels(content, options.wheel),
         (f"photic-{entry['rust']}.cdx.json", content.sbom)]
if "debian" in entry:
    files.append(debian(content))
for name, data in files:
    (options.folder / name).write_bytes(data)
    print(f"{len(data):>12,} {name}")
print(f"{len(content.program):>12,} {npm.platform(content, options.folder / 'npm').relative_to(options.folder)}")
if options.addon:
    folder = npm.addon(content, options.folder / "npm", options.addon)
    print(f"{pathlib.Path(options.addon).stat().st_size:>12,} {folder.relative_to(options.folder)}")
