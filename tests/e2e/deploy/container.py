"""The image of deploy/container, built and run: as small as it says, and it lets requests finish.

The stage that compiles is replaced by what `assemble` makes of a binary that is there, so that
neither a base image nor a compiler is needed; the rest is the Containerfile as it stands. It runs
as the image says, under runc: no capability, a root that is read-only, a network of its own.

    container.py PHOTIC        the binary; needs buildah, runc, nsenter and root
"""
import http.client, http.server, json, os, pathlib, shutil, signal, subprocess, sys, tempfile, threading, time

from waiting import until

root = pathlib.Path(__file__).resolve().parents[3]
HERE = root / "deploy/container"
UPSTREAM, CALLERS, ADMIN = 4100, 4141, 4142
SLOW = 5.0


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


# What is asked from inside the container's network, by this program started there.

class Slow(http.server.BaseHTTPRequestHandler):
    """An upstream that thinks."""
    arrived = threading.Event()

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.arrived.set()
        time.sleep(SLOW)
        body = json.dumps({"id": "1", "object": "chat.completion", "model": "m", "choices": []}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {"content-type": "application/json"} if body else {})
    reply = connection.getresponse()
    return reply.status, reply.read().decode()


def until_up():
    return until(lambda: ask(ADMIN, "GET", "/health"), "the container answers")


def until_stopping():
    """Waits until new requests are answered with 503 and `stopping`."""
    def stopping():
        status, said = ask(CALLERS, "GET", "/v1/models")
        return status == 503 and "stopping" in said
    until(stopping, "a gateway that was told to stop refuses requests")


def inside(pid):
    assert until_up()[0] == 200
    assert json.loads(ask(ADMIN, "GET", "/ready")[1])["status"] == "ready"
    assert ask(CALLERS, "GET", "/metrics")[0] == 404, "callers see the metrics of operators"
    upstream = http.server.ThreadingHTTPServer(("127.0.0.1", UPSTREAM), Slow)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    answer = []
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]})
    caller = threading.Thread(target=lambda: answer.append(ask(CALLERS, "POST", "/v1/chat/completions", body)))
    caller.start()
    assert Slow.arrived.wait(10)
    os.kill(pid, signal.SIGTERM)
    until_stopping()
    assert not answer, "it refused requests only after the one that was under way"
    caller.join()
    [(status, text)] = answer
    assert status == 200 and "chat.completion" in text, (status, text)


# Outside.

def build(work, binary, images):
    output(HERE / "assemble", binary, work / "built/root-of-image")
    (work / "empty").mkdir()
    for _ in range(2):
        images.append(output("buildah", "build", "--quiet", "--no-cache", "--isolation", "chroot", "--timestamp", "0",
                             "--build-context", f"built={work / 'built'}", "--target", "image",
                             "--file", HERE / "Containerfile", work / "empty").splitlines()[-1])
    assert images[0] == images[1], f"the same files make two images: {images}"
    return images[0]


def bundle(work, image, mounted):
    """What the image says, as runc wants it."""
    said = json.loads(output("buildah", "inspect", "--type", "image", image))["OCIv1"]["config"]
    user, group = (int(part) for part in said["User"].split(":"))
    assert user >= 1000 and said["StopSignal"] == "SIGTERM", said
    (work / "photic.toml").write_text(f"""
open = true
[admin]
listen = "127.0.0.1:{ADMIN}"
[[upstream]]
url = "http://127.0.0.1:{UPSTREAM}"
""")
    bind = {"destination": "/etc/photic/photic.toml", "type": "bind", "source": str(work / "photic.toml"),
            "options": ["bind", "ro"]}
    spec = {
        "ociVersion": "1.0.0",
        "process": {"user": {"uid": user, "gid": group}, "args": said["Entrypoint"] + said["Cmd"],
                    "env": said["Env"], "cwd": said["WorkingDir"], "noNewPrivileges": True, "capabilities": {}},
        "root": {"path": mounted, "readonly": True},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}, bind],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]},
    }
    (work / "config.json").write_text(json.dumps(spec))


def nothing_but_what_is_needed(mounted):
    found = [path for path in pathlib.Path(mounted).rglob("*") if path.is_file()]
    programs = [path.name for path in found if os.access(path, os.X_OK) and ".so" not in path.name]
    assert programs == ["photic"], programs
    size = sum(path.stat().st_size for path in found)
    assert size < 300e6, size
    return len(found), size


def main(binary):
    work = pathlib.Path(tempfile.mkdtemp(prefix="photic-container."))
    work.chmod(0o755)
    name, images, container = work.name, [], None
    try:
        image = build(work, binary, images)
        container = output("buildah", "from", "--quiet", image)
        mounted = output("buildah", "mount", container)
        files, size = nothing_but_what_is_needed(mounted)
        bundle(work, image, mounted)
        run = subprocess.Popen(["runc", "--root", work / "state", "run",
                                "--bundle", work, name], stderr=(work / "log").open("w"))
        try:
            for _ in range(200):
                state = subprocess.run(["runc", "--root", work / "state", "state", name], capture_output=True, text=True)
                if state.returncode == 0 and json.loads(state.stdout)["status"] == "running":
                    break
                time.sleep(0.05)
            else:
                sys.exit((work / "log").read_text())
            pid = str(json.loads(state.stdout)["pid"])
            status = pathlib.Path(f"/proc/{pid}/status").read_text().split("\n")
            facts = dict(line.split(":\t", 1) for line in status if ":\t" in line)
            assert facts["Uid"].split() == ["65532"] * 4 and int(facts["CapBnd"], 16) == 0, facts
            subprocess.run(["nsenter", "--target", pid, "--net", sys.executable, __file__, "--inside", pid], check=True)
            assert run.wait(timeout=120) == 0, run.returncode
        finally:
            if run.poll() is None:
                subprocess.run(["runc", "--root", work / "state", "delete", "--force", name])
                run.wait()
        print(f"container: {files} files, {size / 1e6:.0f} MB, the same image twice, "
              f"a request under way outlived SIGTERM")
    finally:
        if container:
            output("buildah", "rm", container)
        for image in set(images):
            output("buildah", "rmi", "--force", image)
        shutil.rmtree(work)


if sys.argv[1] == "--inside":
    inside(int(sys.argv[2]))
else:
    main(sys.argv[1])
