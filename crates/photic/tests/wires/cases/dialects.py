"""openai-chat as single endpoints spell it: ids, parts, settings, and the order of roles."""
from .turns import *

C, A = "openai-chat", "anthropic"
AGENT = "You are a browser agent."
MISTRAL = {"model": "mistral-medium-3", "host": "api.mistral.ai"}


def mistral(*messages, **more):
    return chat(*messages, model="mistral-medium-3", **more)


def short(name):
    """An image whose address is a string."""
    return {"type": "image_url", "image_url": url(name)}


def pdf(name="doc.pdf"):
    return {"type": "file", "file": {"filename": "report.pdf", "file_data": url(name)}}


def document(name="doc.pdf"):
    return {"type": "document_url", "document_url": url(name), "document_name": "report.pdf"}


case("mistral-tool-image", C, "long ids become nine letters, and an assistant stands between the result and its image",
     mistral(system(AGENT), user("Look."), asst(None, call("call_1", "screenshot", full_page=False)),
             tool("call_1", "Screenshot taken.", img("red.png"))),
     findings=["image_in_forbidden_role", "invalid_call_id"], covers=["edge:13", "edge:14", "edge:31"],
     sees=["red.png"], owners=["call_1"], keeps=["Screenshot taken."], **MISTRAL)
case("mistral-parallel", C, "parallel calls: each result keeps its own id of nine letters, and the images follow both",
     mistral(user("Compare both."), asst("I look.", call("call_left", "screenshot", full_page=False), call("call_right", "screenshot", full_page=True)),
             tool("call_left", dump([text("left"), sdk6("red.png")])), tool("call_right", dump([text("right"), sdk6("blue.png")])),
             user("Well?")),
     findings=["image_as_text", "image_as_text", "invalid_call_id", "invalid_call_id", "user_after_tool"],
     covers=["edge:4", "edge:12", "edge:14", "edge:31"],
     sees=["red.png", "blue.png"], owners=["call_left", "call_right"], keeps=["left", "right", "Well?"], **MISTRAL)
case("mistral-clean", C, "an address that is a string and ids of nine letters: nothing to repair",
     mistral(user("Which colour?", short("red.png")), asst(None, call("a1B2c3D4e", "navigate", url="https://example.com")),
             tool("a1B2c3D4e", "Opened."), max_tokens=64, stream=True),
     covers=["edge:31"], sees=["red.png"], owners=["user"], keeps=["Opened."], **MISTRAL)
case("mistral-document", C, "a document in a file part becomes a document_url",
     mistral(user("Read this.", pdf())), findings=["part_spelling"], covers=["edge:31"], sees=[], keeps=["Read this."], **MISTRAL)
case("mistral-document-clean", C, "a document_url is a document to every wire, and stays as it came on its own",
     mistral(user("Read this.", document())), covers=["edge:31"], sees=[], keeps=["Read this."], **MISTRAL)
case("mistral-sound", C, "a sound with a format becomes a string of base64",
     mistral(user("What is said?", {"type": "input_audio", "input_audio": {"data": b64("tone.wav"), "format": "wav"}})),
     findings=["part_spelling"], covers=["edge:31"], sees=[], keeps=["What is said?"], **MISTRAL)
case("mistral-from-anthropic", A, "another wire's history: ids, the bound of the answer and the stream in the endpoint's own words",
     anthropic(auser("Look."), aasst("I look.", use("toolu_01A", "screenshot", full_page=False)),
               auser({"type": "tool_result", "tool_use_id": "toolu_01A", "content": [text("Screenshot taken."), aimg("red.png")]}),
               model="mistral-medium-3", stream=True),
     covers=["edge:28", "edge:31"], sees=["red.png"], owners=["toolu_01A"], keeps=["Screenshot taken.", "I look."], **MISTRAL)
case("llama-cpp-short-address", C, "an endpoint that wants an object gets one",
     chat(user("Which colour?", short("red.png")), model="anything"), findings=["part_spelling"],
     covers=["edge:31"], sees=["red.png"], owners=["user"], keeps=["Which colour?"], model="anything", host="localhost:8080")
