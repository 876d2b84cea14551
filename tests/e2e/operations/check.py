"""What the gateway tells operators, read by the readers of others.

`/metrics` by Prometheus' own parser, traces by OpenTelemetry's own messages, `photic.toml` by a
JSON Schema validator. The gateway stands before `photic mock`, both as processes.

    check.py PHOTIC FOLDER     the binary, and a folder for charts
"""
import base64, collections, http.server, json, os, pathlib, signal, subprocess, sys, threading
import urllib.error, urllib.request

import jsonschema, tomli
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from prometheus_client.parser import text_string_to_metric_families

photic, work = sys.argv[1], pathlib.Path(sys.argv[2])
root = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "tests/e2e"))
from waiting import until  # noqa: E402
KEY, TEXT = "sk-MARKER-in-the-key", "MARKER in a prompt"


# Settings.

def settings():
    printed = subprocess.run([photic, "schema"], check=True, capture_output=True, text=True).stdout
    schema = json.loads(printed)
    assert schema == json.loads((root / "docs/photic.schema.json").read_text()), "the schema is out of date"
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    samples = root / "crates/photic-gateway/tests/settings"
    good = [root / "docs/photic.toml", *sorted((samples / "good").glob("*.toml"))]
    bad = sorted((samples / "bad").glob("*.toml"))
    assert len(good) > 3 and len(bad) > 5
    for path in good:
        validator.validate(tomli.loads(path.read_text()))
    for path in bad:
        assert not validator.is_valid(tomli.loads(path.read_text())), f"{path} passes"
    print(f"schema: {len(good)} files pass, {len(bad)} do not")


# A collector.

class Collector(http.server.BaseHTTPRequestHandler):
    bodies, headers_seen = [], []

    def do_POST(self):
        assert self.path == "/v1/traces", self.path
        self.headers_seen.append(dict(self.headers))
        self.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def ids_as_base64(value):
    """OTLP writes ids in hex where JSON of protobuf has base64; all else is the same."""
    if isinstance(value, dict):
        return {key: base64.b64encode(bytes.fromhex(inner)).decode()
                if key in ("traceId", "spanId", "parentSpanId") else ids_as_base64(inner)
                for key, inner in value.items()}
    return [ids_as_base64(inner) for inner in value] if isinstance(value, list) else value


def spans():
    found = []
    for body in Collector.bodies:
        message = ExportTraceServiceRequest()
        # Unknown fields and wrong types are errors.
        json_format.Parse(json.dumps(ids_as_base64(json.loads(body))), message)
        [resource] = message.resource_spans
        service = {a.key: a.value.string_value for a in resource.resource.attributes}
        assert service["service.name"] == "vision", service
        assert service["deployment.environment"] == "try out", service
        found += resource.scope_spans[0].spans
    return found


# Processes.

def started(arguments, **more):
    return subprocess.Popen([photic, *arguments], text=True, **more)


def ended(process):
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=30)


def post(url, path, body, **headers):
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}", **headers}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status, reply.headers, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def conversation(data, stream=False, tool=True):
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    seen = [{"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": [image]}]
    shown = [{"role": "user", "content": [image]}]
    messages = [{"role": "user", "content": TEXT}, *(seen if tool else shown)]
    return {"model": "gpt-5.4", "stream": stream, "messages": messages}


def run():
    chart = work / "chart.png"
    says = subprocess.run([photic, "mock", "--chart", "3", "-o", chart], check=True, capture_output=True, text=True).stdout.strip()
    data = base64.b64encode(chart.read_bytes()).decode()
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    mock = started(["mock"], stdout=subprocess.PIPE)
    log = (work / "log").open("w+")
    try:
        upstream = mock.stdout.readline().strip()
        environment = {
            **os.environ,
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
            "OTEL_EXPORTER_OTLP_HEADERS": "x-collector-key=c%20k",
            "OTEL_SERVICE_NAME": "vision",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=try%20out,service.name=ignored",
            "XDG_STATE_HOME": str(work),
        }
        (work / "photic.toml").write_text("[admin]\nlisten = '127.0.0.1:0'\n")
        serve = started(["serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--log", "json",
                         "--config", work / "photic.toml"], stderr=log, env=environment)
        try:
            return drive(serve, log, says, data, mock)
        finally:
            if serve.poll() is None:
                serve.kill()
                serve.wait()
    finally:
        if mock.poll() is None:
            ended(mock)
        collector.shutdown()


def drive(serve, log, says, data, mock):
    written = lambda: pathlib.Path(log.name).read_text()
    start = json.loads(until(lambda: written().endswith("\n") and written(), "the gateway's first line"))
    url, admin = start["address"], start["admin"]
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    status, headers, body = post(url, "/v1/chat/completions", conversation(data), traceparent=parent)
    assert status == 200 and says in body, body
    request_id = headers["x-photic-request-id"]
    assert headers["x-photic-fixed"] == "hoisted=1", headers
    status, _, body = post(url, "/v1/chat/completions?key=MARKERQUERY", conversation(data, stream=True))
    assert status == 200 and "data: [DONE]" in body
    status, _, _ = post(url, "/v1/chat/completions", conversation(data, tool=False))
    assert status == 200
    status, _, _ = post(url, "/v1/chat/completions", {"model": "gpt-5.4", "messages": TEXT})
    assert status == 400, status
    ended(mock)
    status, _, _ = post(url, "/v1/messages", {"model": "claude-sonnet-5", "max_tokens": 1, "messages": []})
    assert status == 502, status
    page = metrics(admin)
    assert ended(serve) == 0
    told = pathlib.Path(log.name).read_text()
    traces(request_id)
    lines = [json.loads(line) for line in told.splitlines()]
    kinds = collections.Counter(line["event"] for line in lines)
    assert kinds == {"listening": 1, "request": 5, "fix": 2}, kinds
    everything = told + page + b"".join(Collector.bodies).decode()
    assert "MARKER" not in everything
    for at in range(0, len(data) - 24):
        assert data[at:at + 24] not in everything
    print(f"log: {dict(kinds)}")


def metrics(admin):
    def rested():
        with urllib.request.urlopen(admin + "/metrics", timeout=60) as reply:
            kind, page = reply.headers["content-type"], reply.read().decode()
        return "photic_requests_in_flight 0\n" in page and (kind, page)
    kind, page = until(rested, "no request is in flight")
    assert kind == "text/plain; version=0.0.4; charset=utf-8", kind
    families = {family.name: family for family in text_string_to_metric_families(page)}
    samples = {}
    for family in families.values():
        assert family.type in ("counter", "gauge", "histogram") and family.documentation, family
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in samples, f"{key} stands there twice"
            samples[key] = sample.value
    value = lambda name, **labels: samples[(name, tuple(sorted(labels.items())))]
    chat = {"route": "conversation", "wire": "openai-chat"}
    assert value("photic_requests_total", status="2xx", **chat) == 3
    assert value("photic_requests_total", status="4xx", **chat) == 1
    assert value("photic_requests_total", route="conversation", wire="anthropic", status="5xx") == 1
    assert value("photic_failures_total", code="upstream_unreachable") == 1
    assert value("photic_fixes_total", fix="hoisted") == 2
    assert value("photic_images_total", fate="hoisted") == 2
    assert value("photic_images_total", fate="kept") == 1
    assert value("photic_model_requests_total", model="gpt-5.4") == 3
    assert value("photic_output_tokens_reported_total", model="gpt-5.4") > 0
    for name in ("photic_request_duration_seconds", "photic_first_byte_seconds"):
        counts = [sample for sample in families[name].samples if sample.labels["route"] == "conversation"]
        buckets = [sample.value for sample in counts if sample.name.endswith("_bucket")]
        assert buckets == sorted(buckets) and buckets[-1] == value(name + "_count", route="conversation") == 5
        assert value(name + "_sum", route="conversation") > 0
    print(f"metrics: {len(families)} families, {len(samples)} samples")
    return page


def traces(request_id):
    found = spans()
    assert len(found) == 5, len(found)
    assert all(headers["x-collector-key"] == "c k" for headers in Collector.headers_seen)
    for span in found:
        assert span.kind == Span.SPAN_KIND_CLIENT and len(span.trace_id) == 16 and len(span.span_id) == 8
        assert 0 < span.start_time_unix_nano < span.end_time_unix_nano
    span = found[0]
    assert span.name == "chat gpt-5.4"
    assert span.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert span.parent_span_id.hex() == "b7ad6b7169203331"
    attributes = {a.key: a.value for a in span.attributes}
    assert attributes["gen_ai.operation.name"].string_value == "chat"
    assert attributes["gen_ai.provider.name"].string_value == "openai"
    assert attributes["gen_ai.request.model"].string_value == "gpt-5.4"
    assert attributes["server.address"].string_value == "127.0.0.1"
    assert attributes["photic.request_id"].string_value == request_id
    assert attributes["photic.images.shown"].int_value == 1
    assert attributes["gen_ai.usage.output_tokens"].int_value > 0
    [message] = json.loads(attributes["gen_ai.input.messages"].string_value)
    [part] = message["parts"]
    assert (part["type"], part["modality"], part["mime_type"]) == ("file", "image", "image/png"), part
    [image] = attributes["photic.images"].array_value.values
    assert image.string_value.startswith("hoisted image/png "), image
    last = {a.key: a.value for a in found[-1].attributes}
    assert last["error.type"].string_value == "upstream_unreachable"
    assert found[-1].status.code == Status.STATUS_CODE_ERROR
    print(f"traces: {len(found)} spans in {len(Collector.bodies)} batches")


settings()
run()
