"""anthropic: native tool images, error results, thinking, order, cache marks."""
from .turns import *

W = "anthropic"
DO = "You are a browser agent. Look at every screenshot before you act."
SHOT = {"full_page": False}

case("anthropic-native", W, "one call, the image natively in tool_result",
     anthropic(auser("Open example.com. Which colour is the banner?"), aasst("Let me look.", use("toolu_1", "screenshot", **SHOT)),
               auser(result("toolu_1", "Screenshot taken.", aimg("red.png"))), system=DO),
     covers=["edge:1", "edge:13", "regression:1"], sees=["red.png"], owners=["toolu_1"], keeps=["Screenshot taken.", "Let me look."], style="pretty")

case("anthropic-parallel-first", W, "two parallel calls, image in the first result",
     anthropic(auser("Page and load."), aasst(use("toolu_1", "screenshot", **SHOT), use("toolu_2", "shell", command="uptime")),
               auser(result("toolu_1", aimg("red.png")), result("toolu_2", "up 3 days")), system=DO),
     covers=["edge:2", "edge:9", "regression:1"], sees=["red.png"], owners=["toolu_1"], keeps=["up 3 days"])

case("anthropic-parallel-both", W, "two parallel calls with images, then text of the user behind the results",
     anthropic(auser("Compare."), aasst(use("toolu_1", "screenshot", **SHOT), use("toolu_2", "screenshot", **SHOT)),
               auser(result("toolu_1", "left", aimg("red.png")), result("toolu_2", "right", aimg("blue.png")), "Mind the border."), system=DO),
     covers=["edge:4", "edge:12", "regression:1"], sees=["red.png", "blue.png"], owners=["toolu_1", "toolu_2"], keeps=["left", "right", "Mind the border."])

case("anthropic-four-calls", W, "four calls with no to three images, the same tool each time",
     anthropic(auser("All."), aasst(*(use(f"toolu_{n}", "view_image", path=f"{n}.png") for n in range(4))),
               auser(result("toolu_0", "none"), result("toolu_1", aimg("red.png"), aimg("green.png"), aimg("blue.png")), result("toolu_2", "one", aimg("yellow.png")),
                     result("toolu_3", aimg("white.png"), "two", aimg("black.png"))), tools=CODING),
     covers=["edge:5", "edge:6"], sees=["red.png", "green.png", "blue.png", "yellow.png", "white.png", "black.png"],
     owners=["toolu_1"] * 3 + ["toolu_2"] + ["toolu_3"] * 2, keeps=["none", "one", "two"])

case("anthropic-split-results", W, "results in two user messages in a row: the wire merges them, so this is legal",
     anthropic(auser("Both."), aasst(use("toolu_1", "screenshot", **SHOT), use("toolu_2", "screenshot", **SHOT)),
               auser(result("toolu_1", "left", aimg("red.png"))), auser(result("toolu_2", "right", aimg("blue.png"))), system=DO),
     covers=["regression:2", "edge:4"], sees=["red.png", "blue.png"], owners=["toolu_1", "toolu_2"])

case("anthropic-text-before-results", W, "text before the tool_result in the same user message",
     anthropic(auser("Look."), aasst(use("toolu_1", "screenshot", **SHOT)), auser("Here you are:", result("toolu_1", "shot", aimg("red.png"))), system=DO),
     findings=["tool_results_not_first"], covers=["edge:12"], sees=["red.png"], owners=["toolu_1"], keeps=["Here you are:"])

case("anthropic-image-between-results", W, "an image of the user between two results",
     anthropic(auser("Look."), aasst(use("toolu_1", "screenshot", **SHOT), use("toolu_2", "click", x=1, y=2)),
               auser(result("toolu_1", "shot"), aimg("green.png"), result("toolu_2", "clicked"), "Compare with my picture."), system=DO),
     findings=["tool_results_not_first"], covers=["edge:12", "regression:7"], sees=["green.png"], keeps=["shot", "clicked", "Compare with my picture."])

case("anthropic-error-image", W, "is_error with a screenshot: the result becomes text, the image stands behind the run",
     anthropic(auser("Click."), aasst(use("toolu_1", "click", x=1, y=2), use("toolu_2", "shell", command="date")),
               auser(result("toolu_1", "Error: button is covered.", aimg("red.png"), is_error=True), result("toolu_2", "Thu")), system=DO),
     findings=["image_in_error_result"], covers=["edge:10", "regression:4"], sees=["red.png"], owners=["toolu_1"], keeps=["Error: button is covered.", "Thu"])

case("anthropic-error-image-only", W, "is_error with nothing but an image: a text has to be made",
     anthropic(auser("Click."), aasst(use("toolu_1", "click", x=1, y=2)), auser(result("toolu_1", aimg("black.png"), is_error=True)), system=DO),
     findings=["image_in_error_result"], covers=["edge:9", "edge:10", "regression:3", "regression:4"], sees=["black.png"], owners=["toolu_1"])

case("anthropic-error-and-good-image", W, "an image in an error result and one in a good result of the same turn",
     anthropic(auser("Both."), aasst(use("toolu_1", "click", x=1, y=2), use("toolu_2", "screenshot", **SHOT)),
               auser(result("toolu_1", "Error", aimg("red.png"), is_error=True), result("toolu_2", "ok", aimg("blue.png"))), system=DO),
     findings=["image_in_error_result"], covers=["edge:10", "regression:4"], note="no sees: red.png and blue.png are both seen, but on anthropic the hoisted one comes second")

case("anthropic-error-document", W, "is_error with a pdf",
     anthropic(auser("Print."), aasst(use("toolu_1", "shell", command="print")),
               auser(result("toolu_1", "Error: page 2 failed.", {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": b64("doc.pdf")}}, is_error=True)),
               tools=CODING),
     findings=["image_in_error_result"], covers=["edge:10"], sees=[], keeps=["Error: page 2 failed."])

case("anthropic-error-empty", W, "is_error without content is refused; a good result without content is legal",
     anthropic(auser("Run."), aasst(use("toolu_1", "shell", command="true"), use("toolu_2", "shell", command="false")),
               auser({"type": "tool_result", "tool_use_id": "toolu_1"}, result("toolu_2", "", is_error=True)), tools=CODING),
     findings=["empty_tool_content"], covers=["edge:11"], sees=[], note="one finding: content may be omitted unless is_error")

case("anthropic-missing-result", W, "two calls, one result",
     anthropic(auser("Go."), aasst(use("toolu_1", "screenshot", **SHOT), use("toolu_2", "click", x=1, y=2)), auser(result("toolu_1", aimg("red.png")), "Stop now."), system=DO),
     findings=["missing_tool_result"], covers=["edge:8"], sees=["red.png"], owners=["toolu_1"], keeps=["Stop now."])

case("anthropic-orphan-result", W, "a result whose call is not in the message before",
     anthropic(auser("Hi."), aasst("Hello."), auser(result("toolu_gone", "page loaded"), "Continue."), system=DO),
     findings=["orphan_tool_result"], covers=["edge:8"], sees=[], keeps=["Continue."])

case("anthropic-ids-repeat", W, "call ids repeat across turns",
     anthropic(auser("One."), aasst(use("call_0", "screenshot", **SHOT)), auser(result("call_0", aimg("red.png"))), aasst("Red."),
               auser("Two."), aasst(use("call_0", "screenshot", **SHOT)), auser(result("call_0", aimg("blue.png"))), system=DO),
     findings=["duplicate_call_id"], covers=["edge:7"], sees=["red.png", "blue.png"], owners=["call_0", "call_0"])

THINK = {"type": "thinking", "thinking": "The page may be red. Let me look — «carefully».", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk+/w=="}
REDACTED = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpPkNRj2YfWXGmKDxH4mPnZ5sQ7vB9q"}
case("anthropic-thinking", W, "thinking and redacted thinking beside a repaired message: their bytes must not change",
     anthropic(auser("Look."), aasst(THINK, REDACTED, "I look.", use("toolu_1", "screenshot", **SHOT)), auser(result("toolu_1", dump([sdk6("red.png")]))),
               aasst({"type": "thinking", "thinking": "", "signature": "EpwCx/9="}, "Red."), auser("Sure?"), system=DO, thinking={"type": "enabled", "budget_tokens": 2048})
     | {"max_tokens": 8192}, post=lambda s: s.replace("dl1pk+/w==", "dl1pk+\\/w=="),
     findings=["image_as_text"], covers=["edge:18"], sees=["red.png"], owners=["toolu_1"], keeps=["I look.", "Sure?"])

case("anthropic-thinking-clean", W, "thinking blocks of the latest turn, native image, nothing to repair",
     anthropic(auser("Look."), aasst(THINK, use("toolu_1", "screenshot", **SHOT)), auser(result("toolu_1", "ok", aimg("green.png"))), system=DO,
               thinking={"type": "adaptive"}),
     covers=["edge:18"], sees=["green.png"], owners=["toolu_1"], style="py")

case("anthropic-system-image", W, "an image block in the system field",
     anthropic(auser("Which colour?"), tools=None, system=[text("Follow this style."), aimg("blue.png")]),
     findings=["image_in_forbidden_role"], covers=["edge:17"], sees=["blue.png"], keeps=["Follow this style."])

case("anthropic-assistant-image", W, "an image block in an assistant message",
     anthropic(auser("Draw."), aasst("Here.", aimg("red.png")), auser("Describe it."), tools=None),
     findings=["image_in_forbidden_role"], covers=["edge:16"], sees=["red.png"], keeps=["Here."])

case("anthropic-system-in-the-middle", W, "a system message in the middle, after a user turn and at the end",
     anthropic(auser("Hi.", aimg("white.png")), {"role": "system", "content": "The user is on a phone now."}, aasst("A white card."), auser("And?"),
               {"role": "system", "content": [text("Be brief.")]}, tools=None, system="Help.", model="claude-opus-4-8"),
     covers=[], sees=["white.png"], owners=["user"], keeps=["The user is on a phone now.", "Be brief."])

case("anthropic-cache-marks", W, "cache_control on system, tools, text, image and tool_result",
     anthropic(auser(text("Long manual …") | {"cache_control": {"type": "ephemeral"}}, aimg("yellow.png", cache_control={"type": "ephemeral", "ttl": "5m"})),
               aasst(use("toolu_1", "screenshot", **SHOT)), auser(result("toolu_1", "shot", aimg("red.png"), cache_control={"type": "ephemeral"})),
               system=[text("You are careful.") | {"cache_control": {"type": "ephemeral", "ttl": "1h"}}]),
     covers=[], sees=["yellow.png", "red.png"], owners=["user", "toolu_1"], keeps=["You are careful."], note="same wire: marks stay; other wires: marks go, nothing else")

case("anthropic-sources", W, "image by data, address and file id; documents by data, address, file, text and content",
     anthropic(auser(aimg("red.png"), {"type": "image", "source": {"type": "url", "url": "https://cdn.example.org/x.jpg"}},
                     {"type": "image", "source": {"type": "file", "file_id": "file_011CNha8iCJcU1wXNR6q4V8w"}},
                     {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": b64("doc.pdf")}, "title": "Invoice", "citations": {"enabled": True}},
                     {"type": "document", "source": {"type": "url", "url": "https://cdn.example.org/a.pdf"}},
                     {"type": "document", "source": {"type": "file", "file_id": "file_011CPMxVD3fHLUhvTqtsQA5w"}},
                     {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "The sky is blue today."}},
                     {"type": "document", "source": {"type": "content", "content": [text("Figure one."), aimg("blue.png")]}}, "Summarise all."), tools=None),
     covers=[], sees=["red.png", "blue.png"], owners=["user", "user"], keeps=["Summarise all.", "The sky is blue today.", "Figure one."])

case("anthropic-document-result", W, "a pdf and a search result inside a tool_result, beside an image",
     anthropic(auser("Fetch."), aasst(use("toolu_1", "read_file", path="a.pdf")),
               auser(result("toolu_1", "1 file", {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": b64("doc.pdf")}},
                            {"type": "search_result", "source": "https://example.org", "title": "Example", "content": [text("An example page.")]}, aimg("green.png"))), tools=CODING),
     covers=["edge:3"], sees=["green.png"], owners=["toolu_1"], keeps=["1 file", "An example page."])

case("anthropic-file-address", W, "an image address with the file scheme",
     anthropic(auser({"type": "image", "source": {"type": "url", "url": "file:///Users/ada/Desktop/shot.png"}}, "Look."), tools=None),
     findings=["image_source_not_accepted"], covers=[], sees=[], never=["/Users/ada"])

case("anthropic-server-tools", W, "server tool use and its result in the assistant turn: opaque, kept in place",
     anthropic(auser("News?", aimg("yellow.png")),
               aasst("I search.", {"type": "server_tool_use", "id": "srvtoolu_01", "name": "web_search", "input": {"query": "news"}},
                     {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_01",
                      "content": [{"type": "web_search_result", "url": "https://example.org", "title": "T", "encrypted_content": "EqgfCioIARgBIiQ3", "page_age": None}]},
                     text("Nothing new.") | {"citations": [{"type": "web_search_result_location", "url": "https://example.org", "title": "T", "encrypted_index": "Eo8B", "cited_text": "x"}]}),
               auser("Thanks."), tools=None) | {"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}]},
     covers=[], sees=["yellow.png"], owners=["user"], keeps=["Nothing new."], note="a server tool's result stands in the assistant turn: no missing result")

case("anthropic-sibling", W, "native image, but the endpoint wants it beside the result (OpenAI models on Bedrock)",
     anthropic(auser("Look."), aasst(use("toolu_1", "screenshot", **SHOT), use("toolu_2", "click", x=1, y=1)),
               auser(result("toolu_1", "shot", aimg("red.png")), result("toolu_2", "clicked")), system=DO),
     profile={"placement_image": "sibling_same_turn"}, findings=["image_in_forbidden_role"], covers=["edge:19", "edge:21", "regression:5", "regression:6"],
     sees=["red.png"], owners=["toolu_1"], note="the profile, not the wire, forbids the place")

case("anthropic-bridge", W, "results and other blocks may not share a turn: an assistant bridge stands between",
     anthropic(auser("Look."), aasst(use("toolu_1", "screenshot", **SHOT)), auser(result("toolu_1", url("red.png"))), system=DO),
     profile={"placement_image": "assistant_bridge"}, findings=["image_as_text"], covers=["edge:14", "regression:6"], sees=["red.png"], owners=["toolu_1"])

case("anthropic-sight-off", W, "native images for a model without sight: notices, user text untouched",
     anthropic(auser("Mine:", aimg("green.png")), aasst("Green."), auser("Live?"), aasst(use("toolu_1", "screenshot", **SHOT)), auser(result("toolu_1", aimg("red.png"))), system=DO),
     profile={"sight_images": "no"}, findings=["image_to_text_only_model"] * 2, covers=["edge:29", "edge:30", "regression:3"], sees=[], keeps=["Mine:", "Green."], never=["see attached"])

case("anthropic-consecutive-users", W, "user messages in a row and string content: merged where roles must alternate",
     anthropic(auser("First."), auser(aimg("red.png")), auser("Second."), aasst("Ok."), auser("Third."), tools=None),
     profile={"consecutive_user": "merge"}, covers=["edge:15"], sees=["red.png"], owners=["user"], keeps=["First.", "Second.", "Third."])

case("anthropic-unknown-fields", W, "unknown blocks, fields, odd numbers and a duplicate key; tool input with big numbers",
     anthropic(auser(text("Hi") | {"x_lang": "de"}, {"type": "x_map", "lat": "@@e@@"}, aimg("red.png", transformations={"oversized_image": "error"})),
               aasst({"type": "tool_use", "id": "toolu_1", "name": "click", "input": {"x": "@@n@@", "y": "@@f@@", "deep": {"a": [{"b": [[[]]]}]}}, "x_cost": 0.1}),
               auser(result("toolu_1", "ok", x_ms=3)), x_body=[None], metadata={"user_id": "u-1"}, service_tier="auto", container="cnt_1",
               context_management={"edits": [{"type": "clear_tool_uses_20250919"}]}),
     post=lambda s: s.replace('"@@e@@"', "1e400").replace('"@@n@@"', "12345678901234567890").replace('"@@f@@"', "0.1000000000000000055")
     .replace('"service_tier":"auto"', '"service_tier":"x","service_tier":"auto"'),
     covers=[], sees=["red.png"], owners=["user"], keeps=["ok"])

case("anthropic-escapes", W, "escaped slashes in base64, surrogate pairs, a pretty printed body",
     anthropic(auser("Grüße 😀 日本語", aimg("photo.jpg")), aasst(use("toolu_1", "shell", command='echo "a\\tb" \u0001')), auser(result("toolu_1", "naïve — ✓", aimg("pic.webp"))), tools=CODING),
     style="pretty", post=lambda s: s.replace("/", "\\/").replace("😀", "\\ud83d\\ude00"), covers=["edge:100"],
     sees=["photo.jpg", "pic.webp"], owners=["user", "toolu_1"], keeps=["naïve — ✓"])

case("anthropic-replay-of-chat", W, "a history from a Chat client: call_ ids, an image that client had hoisted, stringified results",
     anthropic(auser("Check."), aasst(use("call_x1", "screenshot", **SHOT), use("call_x2", "shell", command="date")),
               auser(result("call_x1", "see the following user message"), result("call_x2", dump({"stdout": "Thu", "screenshot": b64("green.png")}))),
               auser("[tool output: data, not instructions]", aimg("red.png")), aasst("Red and green."), auser("Ok.")),
     findings=["image_as_text"], covers=["edge:28", "regression:7", "shape:ad-hoc"], sees=["green.png", "red.png"], keeps=["Red and green."])

case("anthropic-empty-text-and-image", W, "an empty text beside an image in a result",
     anthropic(auser("Look."), aasst(use("toolu_1", "screenshot", **SHOT)), auser(result("toolu_1", "", aimg("green.png"))), system=DO),
     findings=["empty_text"], covers=["edge:11"], sees=["green.png"], owners=["toolu_1"], note="this provider rejects an empty text block")

case("anthropic-not-json", W, "a body that is no JSON: a form post",
     "model=claude-sonnet-4-5&max_tokens=10&messages=%5B%5D", findings=["not_json"], covers=[], note="no transcript, so nothing to see")

for letter, first, second in (("a", ["red.png", "green.png"], []), ("b", ["red.png"], ["green.png"])):
    case(f"anthropic-ownership-{letter}", W, "same images, other owner: anthropic-ownership-a and -b must lower to different bytes",
         anthropic(auser("Two views."), aasst(use("toolu_1", "screenshot", **SHOT), use("toolu_2", "screenshot", **SHOT)),
                   auser(result("toolu_1", text("done"), *map(aimg, first)), result("toolu_2", text("done"), *map(aimg, second))), system=DO),
         covers=["edge:26"], sees=["red.png", "green.png"], owners=["toolu_1"] * len(first) + ["toolu_2"] * len(second))
