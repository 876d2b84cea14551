"""The npm packages, as folders for `npm pack`: `photic`, and two for each platform, with the program and with the addon.

`photic` has no install script: npm itself chooses the packages of the platform among the optional dependencies. A module
of the same name and version is added by naming its folder: its files and its own fields of package.json come with it.
The addon of the module is in a package of its own, because the program runs with every C library and the addon does not.
"""
import json, pathlib, shutil

import notices
from contents import ours
from facts import LICENSE, REPOSITORY, ROOT, SUMMARY, TARGETS, VERSION, addon_name, npm_name, program_name

COMMON = {
    "version": VERSION,
    "license": LICENSE,
    "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"},
}


def write(folder, package, files):
    folder.mkdir(parents=True)
    files = {"package.json": (json.dumps(package, indent=2) + "\n").encode(), **files,
             "LICENSE-APACHE": ours("LICENSE-APACHE"), "LICENSE-MIT": ours("LICENSE-MIT")}
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if name.startswith("bin/") else 0o644)
    return folder


def platform(content, parent):
    """The package of one platform: the program and nothing that runs at installation."""
    entry = content.entry
    system, cpu = entry["npm"]
    name, program = npm_name(entry), program_name(entry)
    package = {
        "name": name, **COMMON,
        "description": f"The photic program for {system} on {cpu}; install `photic`, which chooses it",
        "os": [system], "cpu": [cpu], "preferUnplugged": True,
        "files": [f"bin/{program}", "photic.cdx.json", "THIRD-PARTY-NOTICES", "LICENSE-APACHE", "LICENSE-MIT"],
    }
    read_me = f"# {name}\n\nThe photic program for {system} on {cpu}. Install [`photic`]({REPOSITORY}), which chooses it.\n"
    return write(pathlib.Path(parent) / name.split("/")[1], package, {
        f"bin/{program}": content.program, "photic.cdx.json": content.sbom, "THIRD-PARTY-NOTICES": content.notices,
        "README.md": read_me.encode()})


def addon(content, parent, file):
    """The package of the addon of one platform, which the module loads by its name."""
    system, cpu = content.entry["npm"]
    name = addon_name(content.entry)
    package = {
        "name": name, **COMMON,
        "description": f"The addon of the module photic for {system} on {cpu}; install `photic`, which chooses it",
        "os": [system], "cpu": [cpu], **({"libc": ["glibc"]} if system == "linux" else {}), "main": "photic.node",
        "files": ["photic.node", "THIRD-PARTY-NOTICES", "LICENSE-APACHE", "LICENSE-MIT"],
    }
    read_me = f"# {name}\n\nThe addon of the module `photic` for {system} on {cpu}. Install [`photic`]({REPOSITORY}), which chooses it.\n"
    return write(pathlib.Path(parent) / name.split("/")[1], package, {
        "photic.node": pathlib.Path(file).read_bytes(), "THIRD-PARTY-NOTICES": notices.addon(content.entry), "README.md": read_me.encode()})


def main_package(parent, module=None):
    """The package `photic`, with the command and, if its folder is named, the module."""
    package = {
        "name": "photic", "description": SUMMARY, **COMMON,
        "keywords": ["llm", "vision", "agents", "proxy", "mcp"],
        "bin": {"photic": "bin/photic.js"},
        "engines": {"node": ">=18"},
        "files": ["bin/photic.js", "LICENSE-APACHE", "LICENSE-MIT"],
        "optionalDependencies": {npm_name(entry): VERSION for entry in TARGETS.values()},
    }
    files = {"bin/photic.js": (ROOT / "release/npm/photic.js").read_bytes(), "README.md": ours("README.md")}
    folder = pathlib.Path(parent) / "photic"
    if module:
        theirs = json.loads((pathlib.Path(module) / "package.json").read_text())
        if (theirs["name"], theirs["version"]) != ("photic", VERSION):
            raise SystemExit(f"error: {module} is no module of photic {VERSION}")
        listed = {key: theirs.pop(key, empty) for key, empty in (("files", []), ("optionalDependencies", {}))}
        for key in ("scripts", "devDependencies"):
            theirs.pop(key, None)
        package = {**package, **theirs, "bin": package["bin"], "files": [*package["files"], "THIRD-PARTY-NOTICES", *listed["files"]],
                   "optionalDependencies": {
                       **package["optionalDependencies"], **listed["optionalDependencies"],
                       **{addon_name(entry): VERSION for entry in TARGETS.values() if "addon" in entry}}}
        files["THIRD-PARTY-NOTICES"] = notices.webassembly()
    write(folder, package, files)
    if module:
        for pattern in listed["files"]:
            for path in pathlib.Path(module).glob(pattern):
                to = folder / path.relative_to(module)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copytree(path, to) if path.is_dir() else shutil.copy2(path, to)
    return folder
