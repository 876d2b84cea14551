"""Installs every package of a folder of artifacts that fits this machine, each end to end, and uses what it installed.

    install.py FOLDER UV [PYTHON]

FOLDER is what `release/finish.py` leaves. UV is the program uv. PYTHON has the package `xllamacpp`, and `photic probe
--offline` is then tried with the program of the wheel and of the npm package. No network but loopback is used. A static
program runs once more where there is nothing but its package: in a folder that is the root of its process.
"""
import json, os, pathlib, platform, shutil, struct, subprocess, sys, tarfile, tempfile

from registry import Registry

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER, UV, *PYTHON = sys.argv[1:]
FOLDER = pathlib.Path(FOLDER).resolve()
TARGET = {"x86_64": "x86_64-unknown-linux-musl", "aarch64": "aarch64-unknown-linux-musl"}[platform.machine()]
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
BODY = ROOT / "examples/request.json"
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "packages", "version": "1"}}}
# What the machine says about registries has no part in this.
CLEAN = {name: value for name, value in os.environ.items()
         if not name.upper().startswith(("PIP_", "UV_", "NPM_CONFIG_", "PHOTIC_", "OPENAI_", "ANTHROPIC_"))
         and name.upper() not in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")} | {"PIP_CONFIG_FILE": os.devnull, "NO_PROXY": "*"}


def run(*command, expect=0, env=(), **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=CLEAN | dict(env),
                          timeout=300, **options)
    if done.returncode != expect:
        raise AssertionError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def version():
    return next(FOLDER.glob(f"photic-*-{TARGET}.tar.gz")).name.removeprefix("photic-").removesuffix(f"-{TARGET}.tar.gz")


def use(*photic):
    """The program answers, finds what is wrong with a body, and speaks MCP."""
    assert run(*photic, "--version").strip() == f"photic {VERSION}"
    assert "image_as_text" in run(*photic, "check", BODY, expect=1)
    said = run(*photic, "mcp", "--root", ROOT / "examples", input=json.dumps(INITIALIZE) + "\n")
    assert '"serverInfo"' in said, said


def probe(*photic):
    """A real model server is probed, where the machine has it."""
    if PYTHON:
        said = run(*photic, "probe", "--offline", env={"PHOTIC_PYTHON": PYTHON[0]})
        assert "sees" in said, said
    return bool(PYTHON)


def is_static(program):
    """Whether an ELF file names no loader."""
    with open(program, "rb") as file:
        data = file.read(4096)
    if data[:4] != b"\x7fELF":
        return False
    start, = struct.unpack_from("<Q", data, 0x20)
    size, count = struct.unpack_from("<HH", data, 0x36)
    return all(struct.unpack_from("<I", data, start + index * size)[0] != 3 for index in range(count))


def alone(root, program):
    """The program in a root that holds its package and nothing else: no libc, no shell, no certificates."""
    if os.geteuid() or not is_static(root / program.lstrip("/")):
        return "not static, or not root here: not tried in an empty root"
    (root / "tmp").mkdir(exist_ok=True)
    shutil.copy(BODY, root / "tmp/request.json")
    assert run("chroot", root, program, "--version", env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}).strip() == f"photic {VERSION}"
    assert "image_as_text" in run("chroot", root, program, "check", "/tmp/request.json", expect=1,
                                  env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    return "runs in an empty root"


def wheel(work, registry):
    run(sys.executable, "-m", "venv", work / "venv")
    run(work / "venv/bin/pip", "install", "--disable-pip-version-check", "--no-cache-dir", "--index-url",
        f"{registry.url}/simple/", f"photic=={VERSION}")
    photic = work / "venv/bin/photic"
    use(photic)
    tried = probe(photic)
    both = any(FOLDER.glob("photic-*-cp*.whl"))
    if both:
        repaired = "import sys, photic; sys.stdout.buffer.write(photic.lower(sys.stdin.buffer.read()).body)"
        assert run(work / "venv/bin/python", "-I", "-c", repaired, input=BODY.read_text()) == run(photic, "lower", BODY)
    assert f"photic-{VERSION}" in run(work / "venv/bin/pip", "list", "--format", "freeze").replace("==", "-")
    info = next((work / "venv").rglob(f"photic-{VERSION}.dist-info"))
    assert (info / "sboms/photic.cdx.json").is_file()
    run(work / "venv/bin/pip", "uninstall", "--yes", "photic")
    assert not photic.exists()
    return "pip installs and removes it" + (", the module repairs like the command" if both else "") + (", probe --offline sees" if tried else "")


def uvx(work, registry):
    env = {"UV_CACHE_DIR": work / "cache", "UV_DEFAULT_INDEX": f"{registry.url}/simple/", "UV_PYTHON": sys.executable,
           "UV_TOOL_DIR": work / "tools", "UV_PYTHON_DOWNLOADS": "never"}
    env = {name: str(value) for name, value in env.items()}
    assert run(UV, "tool", "run", "--no-config", "photic", "--version", env=env).splitlines()[-1] == f"photic {VERSION}" or \
        f"photic {VERSION}" in run(UV, "tool", "run", "--no-config", "photic", "--version", env=env)
    return "uvx photic"


def npm(work, registry):
    env = {"NPM_CONFIG_REGISTRY": f"{registry.url}/npm/", "NPM_CONFIG_CACHE": str(work / "cache"), "HOME": str(work),
           "NPM_CONFIG_USERCONFIG": os.devnull, "NPM_CONFIG_AUDIT": "false", "NPM_CONFIG_FUND": "false",
           "NPM_CONFIG_UPDATE_NOTIFIER": "false"}
    project = work / "project"
    project.mkdir()
    (project / "package.json").write_text('{"name": "project", "version": "1.0.0", "private": true}')
    # Nothing of the package is run while it is installed.
    run("npm", "install", "--ignore-scripts", "photic", cwd=project, env=env)
    there = sorted(path.name for path in (project / "node_modules/@photic-dev").iterdir())
    assert there == [f"cli-linux-{'x64' if DEBIAN == 'amd64' else 'arm64'}"], there
    photic = project / "node_modules/.bin/photic"
    use(photic)
    tried = probe(photic)
    assert run("npx", "--yes", "photic", "--version", cwd=work, env=env).strip().endswith(f"photic {VERSION}")
    # A program that is told to stop stops, and a missing platform package is said.
    shutil.rmtree(project / "node_modules/@photic-dev")
    assert "is not installed" in run(photic, "--version", expect=2)
    return "npm install, npx photic" + (", probe --offline sees" if tried else "")


def debian(work, _):
    package = FOLDER / f"photic_{VERSION}_{DEBIAN}.deb"
    root = work / "root"
    (root / "var/lib/dpkg/info").mkdir(parents=True)
    (root / "var/lib/dpkg/updates").mkdir()
    (root / "var/lib/dpkg/status").touch()
    run("dpkg-deb", "--info", package)
    as_user = [] if os.geteuid() == 0 else ["--force-not-root"]
    run("dpkg", *as_user, "--force-script-chrootless", f"--root={root}", "--install", package)
    assert "install ok installed" in (root / "var/lib/dpkg/status").read_text()
    use(root / "usr/bin/photic")
    for path in ("usr/share/man/man1/photic.1.gz", "usr/share/bash-completion/completions/photic",
                 "usr/share/doc/photic/copyright", "usr/share/doc/photic/changelog.gz"):
        assert (root / path).stat().st_size > 100, path
    said = alone(root, "/usr/bin/photic")
    run("dpkg", *as_user, "--force-script-chrootless", f"--root={root}", "--purge", "photic")
    assert not (root / "usr/bin/photic").exists()
    return f"dpkg installs and removes it; {said}"


def archive(work, _):
    name = f"photic-{VERSION}-{TARGET}"
    with tarfile.open(FOLDER / f"{name}.tar.gz") as tar:
        names = {member.name for member in tar}
        assert all(member.uid == 0 and not member.uname for member in tar)
        tar.extractall(work, filter="data")
    wanted = {"photic", "README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES",
              "photic.cdx.json", "man/photic.1", "completions/photic.bash", "completions/photic.fish", "completions/_photic",
              "completions/_photic.ps1", "completions/photic.elv"}
    assert wanted <= {path.removeprefix(f"{name}/") for path in names}, names
    use(work / name / "photic")
    run("bash", "-n", work / name / "completions/photic.bash")
    return f"{len(names)} files; {alone(work / name, '/photic')}"


def script(work, registry):
    installer = FOLDER / "install.sh"
    place = work / "some where/bin"
    env = {"PHOTIC_DOWNLOAD_URL": f"{registry.url}/wrong", "PHOTIC_INSTALL_DIR": str(place), "HOME": str(work)}
    said = run("sh", installer, env=env, expect=1)
    assert "error:" in said and "has the checksum" in said and not place.exists(), said
    assert "error: cannot download" in run("sh", installer, env=env | {"PHOTIC_DOWNLOAD_URL": f"{registry.url}/none"}, expect=1)
    assert "error:" in run("sh", installer, env=env | {"PHOTIC_DOWNLOAD_URL": "http://192.0.2.1/"}, expect=1)
    said = run("sh", installer, env=env | {"PHOTIC_DOWNLOAD_URL": f"{registry.url}/files"})
    assert f"installed photic {VERSION}" in said and "is not in PATH" in said, said
    use(place / "photic")
    # Once more, over the old one, by a user whose PATH has it; nothing is left behind.
    said = run("sh", installer, env=env | {"PHOTIC_DOWNLOAD_URL": f"{registry.url}/files", "PATH": f"{place}:{os.environ['PATH']}"})
    assert "is not in PATH" not in said and [path.name for path in place.iterdir()] == ["photic"], said
    return "install.sh; a wrong checksum, a missing file and a server without TLS are refused"


VERSION = version()
failed = []
server = Registry(FOLDER)
for check in (archive, wheel, uvx, npm, debian, script):
    work = pathlib.Path(tempfile.mkdtemp(prefix=f"photic-{check.__name__}."))
    # Others than root may look into the root of a package.
    work.chmod(0o755)
    try:
        print(f"{check.__name__}: {check(work, server)}", flush=True)
    except (AssertionError, OSError, StopIteration, subprocess.SubprocessError) as error:
        failed.append(check.__name__)
        print(f"{check.__name__}: FAILED: {error!r}\n{error}", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
