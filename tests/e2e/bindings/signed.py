"""A request of boto3 that photic changed is signed for what is sent: the signature is computed again here. PICTURE."""
import base64, hashlib, json, pathlib, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
from anthropic import AnthropicBedrock
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

import photic.anthropic, photic.boto3

KEY, SECRET = "AKIDEXAMPLE", "a/secret+key"
seen = []


def is_signed(handler, body):
    _, names, given = (part.split("=", 1)[1] for part in handler.headers["authorization"].removeprefix("AWS4-HMAC-SHA256 ").split(", "))
    headers = {name: handler.headers[name] for name in names.split(";")}
    request = AWSRequest("POST", f"http://{handler.headers['host']}{handler.path}", headers, body)
    request.context["timestamp"] = handler.headers["x-amz-date"]
    signer = SigV4Auth(Credentials(KEY, SECRET), "bedrock", "eu-west-1")
    right = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    digest = handler.headers.get("x-amz-content-sha256")
    return given == right and digest in (None, hashlib.sha256(body).hexdigest())


class Amazon(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        seen.append((self.path, is_signed(self, body), body))
        reply = {"output": {"message": {"role": "assistant", "content": [{"text": "signed"}]}}, "stopReason": "end_turn",
                 "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}, "metrics": {"latencyMs": 1}}
        reply = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Amazon)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = boto3.client("bedrock-runtime", region_name="eu-west-1", aws_access_key_id=KEY, aws_secret_access_key=SECRET,
                      endpoint_url=f"http://127.0.0.1:{server.server_port}", config=Config(retries={"total_max_attempts": 1}))
photic.boto3.install(photic.boto3.install(client))
picture = base64.b64encode(pathlib.Path(sys.argv[1]).read_bytes()).decode()
messages = [
    {"role": "user", "content": [{"text": "Look!"}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"json": {"screenshot": picture}}]}}]},
]
client.converse(modelId="anthropic.claude-sonnet-4-5-20250929-v1:0", messages=messages)
claude = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 10, "messages": [
    {"role": "user", "content": "Look!"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": json.dumps({"screenshot": picture})}]}]}
client.invoke_model(modelId="anthropic.claude-sonnet-4-5-20250929-v1:0", body=json.dumps(claude))
# Anthropic's SDK signs by itself, behind its middleware.
claude.pop("anthropic_version")
sdk = AnthropicBedrock(aws_access_key=KEY, aws_secret_key=SECRET, aws_region="eu-west-1", max_retries=0,
                       base_url=f"http://127.0.0.1:{server.server_port}", middleware=[photic.anthropic.middleware()])
try:
    sdk.messages.create(model="anthropic.claude-sonnet-4-5-20250929-v1:0", **claude)
except AttributeError:
    pass  # the reply above is none of Anthropic's
(converse, one, first), (invoke, two, second), (sdk_invoke, three, third) = seen
signed = [(path, is_right) for path, is_right, _ in seen]
assert converse.endswith("/converse") and invoke.endswith("/invoke") and sdk_invoke.endswith("/invoke") and one and two and three, signed
assert b'"image"' in first and b'"type":"image"' in second.replace(b" ", b"") and b'"type":"image"' in third.replace(b" ", b""), third[:300]
print("boto3: Converse and InvokeModel are repaired before they are signed, and so is InvokeModel of Anthropic's SDK")
