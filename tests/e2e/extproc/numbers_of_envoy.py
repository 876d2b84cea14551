"""The messages of crates/photic-extproc have the numbers of Envoy's own descriptors."""
import importlib, pathlib, re

SOURCE = pathlib.Path("crates/photic-extproc/src/messages.rs")
EXT_PROC = "envoy.service.ext_proc.v3.external_processor_pb2"
BASE = "envoy.config.core.v3.base_pb2"
MODE = "envoy.extensions.filters.http.ext_proc.v3.processing_mode_pb2"
# The names of our messages, where they differ, and the modules of those that are not in the first.
NAMES = {"CommonAnswer": ("HeadersResponse", "BodyResponse"), "TrailersAnswer": ("TrailersResponse",),
         "StreamedBody": ("StreamedBodyResponse",), "Received": ("ProcessingRequest",),
         "Answer": ("ProcessingResponse",), "Mutation": ("BodyMutation",)}
MODULES = {"HeaderMap": BASE, "HeaderValue": BASE, "HeaderValueOption": BASE, "ProcessingMode": MODE,
           "HttpStatus": "envoy.type.v3.http_status_pb2"}
# The variants of ours that are named otherwise.
VARIANTS = {"Immediate": "immediate_response", "Streamed": "streamed_response"}
ENUMS = {"BodySendMode": (MODE, "ProcessingMode", "BodySendMode"),
         "HeaderSendMode": (MODE, "ProcessingMode", "HeaderSendMode"),
         "AppendAction": (BASE, "HeaderValueOption", "HeaderAppendAction")}
ENUM_NAMES = {"Append": "APPEND_IF_EXISTS_OR_ADD", "Overwrite": "OVERWRITE_IF_EXISTS_OR_ADD"}


def snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def descriptor(ours, theirs):
    return getattr(importlib.import_module(MODULES.get(ours, EXT_PROC)), theirs).DESCRIPTOR


def check():
    text = SOURCE.read_text()
    count = 0
    for kind, name, body in re.findall(r"(struct|enum) (\w+) \{(.*?)\}", text, re.S):
        if name in ENUMS:
            module, message, enum = ENUMS[name]
            values = getattr(importlib.import_module(module), message).DESCRIPTOR.enum_types_by_name[enum].values_by_name
            for variant, number in re.findall(r"(\w+) = (\d+),", body):
                theirs = values[ENUM_NAMES.get(variant, snake(variant).upper())]
                assert theirs.number == int(number), f"{name}::{variant}"
                count += 1
            continue
        for theirs in NAMES.get(name, (name,)):
            fields = descriptor(name, theirs).fields_by_name
            fields_of_ours = re.findall(r'#\[prost\(([^\]]*?)tag = "(\d+)"\)\]\s+(?:pub\(crate\) )?(\w+)', body)
            for _, tag, field in fields_of_ours:
                field = VARIANTS.get(field, snake(field))
                assert fields[field].number == int(tag), f"{name}.{field}: {tag}, not {fields[field].number}"
                count += 1
    assert count > 55, count
    return count
