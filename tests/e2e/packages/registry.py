"""A package index, an npm registry and a download server on loopback, for one folder of artifacts.

| path | what |
|---|---|
| `/simple/NAME/` | the wheels of a package, as pip and uv read an index |
| `/npm/NAME` | a package as npm reads a registry, `@scope/name` too |
| `/files/FILE` | a file of the folder |
| `/wrong/FILE` | the same, but `SHA256SUMS` names other checksums |
"""
import base64, hashlib, http.server, json, pathlib, re, tarfile, threading, urllib.parse


class Registry(http.server.ThreadingHTTPServer):
    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder = pathlib.Path(folder)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.asked = []
        self.tarballs = {}
        for path in self.folder.glob("*.tgz"):
            with tarfile.open(path) as tar:
                package = json.load(tar.extractfile("package/package.json"))
            self.tarballs[package["name"]] = (path, package)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """Clients close connections that they do not need any more."""


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        self.server.asked.append(path)
        found = None
        if match := re.fullmatch(r"/simple/([\w.-]+)/?", path):
            found = self.index(match[1])
        elif path.startswith("/npm/"):
            found = self.package(path.removeprefix("/npm/"))
        elif match := re.fullmatch(r"/(files|wrong)/([\w.+@-]+)", path):
            found = self.file(match[2], match[1] == "wrong")
        kind, data = found or ("text/plain", b"not here\n")
        self.send_response(200 if found else 404)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_HEAD = do_GET

    def index(self, name):
        wheels = sorted(self.server.folder.glob(f"{name}-*.whl"))
        if not wheels:
            return None
        links = "".join(f'<a href="/files/{path.name}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}">{path.name}</a>\n'
                        for path in wheels)
        return "text/html", f"<!DOCTYPE html><html><body>\n{links}</body></html>\n".encode()

    def package(self, name):
        if name not in self.server.tarballs:
            return None
        path, package = self.server.tarballs[name]
        integrity = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        version = package["version"]
        dist = {"tarball": f"{self.server.url}/files/{path.name}", "integrity": f"sha512-{integrity}"}
        return "application/json", json.dumps({
            "name": name, "dist-tags": {"latest": version}, "versions": {version: {**package, "dist": dist}}}).encode()

    def file(self, name, wrong):
        path = self.server.folder / name
        if not path.is_file():
            return None
        data = path.read_bytes()
        if wrong and name == "SHA256SUMS":
            data = re.sub(rb"^[0-9a-f]{8}", b"00000000", data, flags=re.M)
        return "application/octet-stream", data

    def log_message(self, *_):
        pass
