"""Whether what the gateway sends to Amazon is signed as Amazon's own library signs it: PHOTIC.

A server on loopback recomputes every signature with botocore and answers only what agrees. boto3 talks to it through
`photic run`, whose gateway changes the host, so that the client's own signature no longer holds.
"""
import hashlib, json, os, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

PHOTIC = sys.argv[1]
REGION, KEY, SECRET, TOKEN = "eu-west-1", "AKIDEXAMPLE", "a/secret+key", "a-session"
MODEL = "anthropic.claude-sonnet-4-5-20250929-v1:0"
CLIENT = f"""
import boto3
client = boto3.client("bedrock-runtime")
said = [{{"role": "user", "content": [{{"text": "Hello"}}]}}]
print(client.converse(modelId={MODEL!r}, messages=said)["output"]["message"]["content"][0]["text"])
"""
seen = []


def signature(handler, body):
    """What it should be, for the headers that were signed."""
    scope, names, given = (part.split("=", 1)[1] for part in handler.headers["authorization"].removeprefix("AWS4-HMAC-SHA256 ").split(", "))
    headers = {name: handler.headers[name] for name in names.split(";")}
    request = AWSRequest("POST", f"http://{handler.headers['host']}{handler.path}", headers, body)
    request.context["timestamp"] = handler.headers["x-amz-date"]
    signer = SigV4Auth(Credentials(KEY, SECRET, TOKEN), "bedrock", REGION)
    right = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    whole = handler.headers["x-amz-content-sha256"] == hashlib.sha256(body).hexdigest()
    return scope.split("/")[0] == KEY and whole and given == right


class Amazon(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        seen.append(signature(self, body))
        message = {"role": "assistant", "content": [{"text": "signed"}]}
        reply = {"output": {"message": message}, "stopReason": "end_turn",
                 "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}, "metrics": {"latencyMs": 1}}
        status, reply = (200, reply) if seen[-1] else (403, {"message": "The request signature we calculated does not match"})
        reply = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Amazon)
threading.Thread(target=server.serve_forever, daemon=True).start()
environment = {**os.environ, "AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
               "AWS_SESSION_TOKEN": TOKEN, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": f"http://127.0.0.1:{server.server_port}"}
ran = subprocess.run([PHOTIC, "run", "--quiet", "--", sys.executable, "-c", CLIENT], env=environment, capture_output=True, text=True)
if ran.stdout.strip() != "signed" or seen != [True]:
    sys.exit(f"the signature of the gateway is not Amazon's: {seen}\n{ran.stdout}\n{ran.stderr}")
print("signed as botocore signs")
