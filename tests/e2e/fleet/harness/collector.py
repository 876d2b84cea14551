"""A collector of traces: ADDRESS FILE. Whatever is posted to it is added to the file."""

import http.server
import sys

address, path = sys.argv[1:]


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with open(path, "ab") as file:
            file.write(str(self.headers).encode() + body + b"\n")
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer((address, 4318), Collector).serve_forever()
