"""Images as text: every shape inside a tool result, on all wires, and what only looks like one."""
from .turns import *

C, R, A = "openai-chat", "openai-responses", "anthropic"
SYSTEM = "You are a QA agent. Judge pages by their looks."
LONG = base64.b64encode(bytes((i * i * 7 + i * 13 + 5) % 251 for i in range(2400))).decode()
JWT = ("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkFkYSIsImlhdCI6MTUxNjIzOTAyMn0."
       "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c")


def chat_tool(*content, **more):
    return chat(system(SYSTEM), user("Take a look at the page."), asst(None, call("call_1", "screenshot", full_page=True)),
                tool("call_1", *content), **more)


def responses_tool(*content, **more):
    return responses(ruser("Take a look at the page."), rcall("call_1", "screenshot", full_page=True), rout("call_1", *content),
                     instructions=SYSTEM, **more)


def anthropic_tool(*content, **more):
    return anthropic(auser("Take a look at the page."), aasst("One moment.", use("call_1", "screenshot", full_page=True)),
                     auser(result("call_1", *content)), system=SYSTEM, **more)


def shape(name, wire, title, *content, sees, covers=(), extra=(), **more):
    """A tool result of that content on that wire, one image_as_text for each image seen."""
    body = {C: chat_tool, R: responses_tool, A: anthropic_tool}[wire](*content)
    case(name, wire, title, body, findings=sorted(["image_as_text"] * len(sees) + list(extra)), sees=sees,
         owners=["call_1"] * len(sees), covers=covers, **more)


def plain(name, wire, title, words, *, findings=(), covers=(), keeps=None, **more):
    """A tool text that must stay as it is."""
    body = {C: chat_tool, R: responses_tool, A: anthropic_tool}[wire](words)
    case(name, wire, title, body, findings=findings, sees=[], covers=covers, keeps=keeps or [words], **more)


# --- AI SDK ---------------------------------------------------------------------------------------------

shape("shape-ai6-single", C, "AI SDK 6: one image-data item, stringified", dump([sdk6("red.png")]),
      sees=["red.png"], covers=["shape:ai-sdk-6", "regression:7", "regression:12"])
shape("shape-ai6-multi", C, "AI SDK 6: text, two image-data, an image-url and a pdf as file-data, stringified",
      dump([text("Found 2 differences."), sdk6("red.png"), {"type": "image-url", "url": "https://cdn.example.org/ref.png"}, sdk6("photo.jpg"),
            {"type": "file-data", "data": b64("doc.pdf"), "mediaType": "application/pdf", "filename": "report.pdf"}]),
      sees=["red.png", "photo.jpg"], covers=["shape:ai-sdk-6", "regression:12"], keeps=["Found 2 differences."],
      extra=["image_as_text", "image_address_in_text"],
      note="the pdf is found too; the address stays text: what a tool names is not for the provider to fetch")
shape("shape-ai6-on-responses", R, "the same stringified items in a function_call_output string",
      dump([text("Page is up."), sdk6("green.png")]), sees=["green.png"], covers=["shape:ai-sdk-6", "edge:22"], keeps=["Page is up."])
shape("shape-ai6-wrong-label", C, "AI SDK 6: labelled image/png, but the bytes are a JPEG", dump([sdk6("photo.jpg", "image/png")]),
      sees=["photo.jpg"], extra=["wrong_label"], covers=["shape:ai-sdk-6", "regression:10"])
shape("shape-ai-media", C, "earlier AI SDK: media item, stringified",
      dump([{"type": "media", "data": b64("blue.png"), "mediaType": "image/png"}]), sees=["blue.png"], covers=["shape:ai-sdk-media", "regression:12"])
shape("shape-ai7-file", C, "AI SDK 7: file item with nested data, stringified",
      dump([text("Rendered."), {"type": "file", "mediaType": "image/png", "data": {"type": "data", "data": b64("yellow.png")}}]),
      sees=["yellow.png"], covers=["shape:ai-sdk-7", "regression:12"], keeps=["Rendered."])
shape("shape-ai7-file-flat", A, "AI SDK 7: file item with a string as data, in an Anthropic tool_result string",
      dump([{"type": "file", "mediaType": "image/jpeg", "filename": "a.jpg", "data": b64("photo.jpg")}]),
      sees=["photo.jpg"], covers=["shape:ai-sdk-7", "regression:12"])

# --- MCP --------------------------------------------------------------------------------------------------

shape("shape-mcp", C, "an MCP result forwarded as JSON, with structuredContent beside the image",
      dump({"content": [text("ok: 200"), mcp_image("red.png")], "structuredContent": {"status": 200}, "isError": False}),
      sees=["red.png"], covers=["shape:mcp"], keeps=["ok: 200"])
shape("shape-mcp-error", R, "an MCP result with isError true and a screenshot of the failure",
      dump({"content": [text("Timeout 30000ms exceeded."), mcp_image("black.png")], "isError": True}),
      sees=["black.png"], covers=["shape:mcp", "edge:10", "regression:4"], keeps=["Timeout 30000ms exceeded."])
shape("shape-mcp-resource", C, "an MCP embedded resource with an image blob",
      dump({"content": [{"type": "resource", "resource": {"uri": "screenshot://current", "mimeType": "image/png", "blob": b64("white.png")}},
                        {"type": "resource_link", "uri": "file:///tmp/log.txt", "name": "log.txt"}]}),
      sees=["white.png"], covers=["shape:mcp-resource"])
shape("shape-mcp-content-list", A, "only the content list of an MCP result, snake case label, in a text block",
      dump([text("Done."), {"type": "image", "data": b64("green.png"), "mime_type": "image/png"}, mcp_image("blue.png")]),
      sees=["green.png", "blue.png"], covers=["shape:mcp"], keeps=["Done."])

# --- other wires' blocks as JSON ------------------------------------------------------------------------------

shape("shape-anthropic-blocks", C, "Anthropic blocks forwarded as JSON", dump([text("2 widgets"), aimg("red.png"), aimg("green.png")]),
      sees=["red.png", "green.png"], covers=["shape:anthropic-blocks"], keeps=["2 widgets"])
shape("shape-anthropic-blocks-own-wire", A, "a tool_result block list, stringified once too often on its own wire",
      text(dump([aimg("red.png")])), sees=["red.png"], covers=["shape:anthropic-blocks", "shape:text-part"])
shape("shape-chat-parts", R, "Chat image_url parts as JSON inside a Responses output", dump([text("seen"), img("yellow.png", "high")]),
      sees=["yellow.png"], covers=["shape:chat-parts", "edge:28"], keeps=["seen"])
shape("shape-responses-parts", A, "Responses input_image parts as JSON inside an Anthropic result", dump([rtext("seen"), rimg("blue.png")]),
      sees=["blue.png"], covers=["shape:responses-parts", "edge:28"], keeps=["seen"])

# --- ad-hoc tools ---------------------------------------------------------------------------------------------

shape("shape-base64-image-key", C, "an ad-hoc tool: base64_image beside output and error (computer use quickstart)",
      dump({"output": "clicked at 10,20", "error": None, "base64_image": b64("red.png")}),
      sees=["red.png"], covers=["shape:ad-hoc"], keeps=["clicked at 10,20"])
shape("shape-screenshot-nested", C, "screenshot keys nested in objects and lists; the rest of the JSON must stay",
      dump({"ok": True, "result": {"page": {"url": "https://example.org/cart", "screenshot": b64("red.png")},
                                   "frames": [{"n": 1, "screenshot": url("green.png")}, {"n": 2, "screenshot": url("blue.png")}]}}),
      sees=["red.png", "green.png", "blue.png"], covers=["shape:ad-hoc", "edge:100"], keeps=["https://example.org/cart"])
shape("shape-screenshot-on-anthropic", A, "a screenshot key in an Anthropic tool_result string, pretty printed JSON",
      json.dumps({"title": "Checkout", "screenshot": b64("green.png"), "links": 14}, indent=2),
      sees=["green.png"], covers=["shape:ad-hoc"], keeps=["Checkout"])
shape("shape-openwop", C, "openwop's part shape: dataBase64 and mimeType", dump({"type": "image", "mimeType": "image/png", "dataBase64": b64("red.png")}),
      sees=["red.png"], covers=["shape:openwop", "regression:13"])
shape("shape-key-order", R, "the same item with its type last, and a list that mixes strings and items",
      dump(["ok", {"mediaType": "image/png", "data": b64("red.png"), "type": "image-data"}, [mcp_image("green.png")], "end of frames"]),
      sees=["red.png", "green.png"], covers=["edge:100", "shape:list"], keeps=["end of frames"])
shape("shape-json-in-json", C, "JSON in JSON in a string",
      dump({"status": "success", "result": dump({"content": [text("inner"), mcp_image("blue.png")]})}),
      sees=["blue.png"], covers=["shape:json-in-json", "edge:100"], keeps=["inner"])
shape("shape-json-in-json-responses", R, "JSON in JSON in the text of an input_text part",
      rtext(dump({"payload": dump([sdk6("red.png")])})), sees=["red.png"], covers=["shape:json-in-json", "shape:text-part", "edge:100"])
shape("shape-text-part", C, "a tool message as list of text parts: one is the JSON, the other stays",
      text("Viewport 1280x720."), text(dump([sdk6("red.png"), sdk6("green.png")])),
      sees=["red.png", "green.png"], covers=["shape:text-part"], keeps=["Viewport 1280x720."])

# --- bare ---------------------------------------------------------------------------------------------------------

shape("shape-data-url", C, "a bare data URL as the whole tool text", url("red.png"), sees=["red.png"], covers=["shape:data-url"])
shape("shape-data-url-responses", R, "a bare data URL as output, white space around it", "\n" + url("photo.jpg") + "\n", sees=["photo.jpg"], covers=["shape:data-url", "edge:22"])
shape("shape-data-url-anthropic", A, "a bare data URL in a text block between two others",
      text("before"), text(url("pic.webp")), text("after"), sees=["pic.webp"], covers=["shape:data-url"], keeps=["before", "after"])

case("shape-bare-base64", C, "bare base64 of png, jpeg, gif and webp: four results of four calls",
     chat(system(SYSTEM), user("All four."), asst(None, *(call(f"call_{n}", "screenshot", full_page=False) for n in range(4))),
          *(tool(f"call_{n}", b64(name)) for n, name in enumerate(["red.png", "photo.jpg", "still.gif", "pic.webp"]))),
     findings=["image_as_text"] * 4, sees=["red.png", "photo.jpg", "still.gif", "pic.webp"], owners=[f"call_{n}" for n in range(4)],
     covers=["shape:bare-base64", "edge:5"])
shape("shape-bare-base64-responses", R, "bare base64 of a png as output", b64("green.png"), sees=["green.png"], covers=["shape:bare-base64", "edge:22"])
shape("shape-bare-base64-anthropic", A, "bare base64 of a jpeg as tool_result string", b64("photo.jpg"), sees=["photo.jpg"], covers=["shape:bare-base64"])

case("shape-user-data-url", C, "the user pasted a data URL as the whole text of a part",
     chat(system(SYSTEM), user("What is this?", url("red.png")), tools=None),
     findings=["image_as_text"], sees=["red.png"], owners=["user"], covers=["shape:data-url"], keeps=["What is this?"])
case("shape-user-json", A, "a client stringified the user's content list",
     anthropic(auser(dump([text("Which colour?"), aimg("blue.png")])), tools=None),
     findings=["image_as_text"], sees=["blue.png"], owners=["user"], covers=["shape:anthropic-blocks"], keeps=["Which colour?"])
case("shape-user-responses", R, "the whole input is one string: a data URL",
     responses(tools=None) | {"input": url("green.png")},
     findings=["image_as_text"], sees=["green.png"], owners=["user"], covers=["shape:data-url"])

# --- no image: must stay ----------------------------------------------------------------------------------------------

plain("plain-long-base64", C, "a long base64 that is no image", LONG, covers=["edge:101"])
plain("plain-long-base64-key", R, "a long base64 that is no image, under a key that promises one", dump({"screenshot": LONG, "ok": False}),
      covers=["edge:101"], keeps=[LONG[:80]], note="the key is a hint, the bytes decide")
plain("plain-jwt", A, "a JWT", JWT)
plain("plain-jpeg-prose", C, "prose that starts with /9j/", "/9j/ is how the base64 of every JPEG starts; iVBORw0KGgo is how a PNG starts.")
plain("plain-jpeg-path", R, "a path that starts with /9j/ and is valid base64 with the magic bytes of JPEG, but no JPEG",
      "/9j/shared/reports/2024/q3/summary/final", note="magic alone is not enough: the header must give a size")
plain("plain-png-signature", A, "the eight bytes of the PNG signature in base64, quoted as text", "iVBORw0KGgo=",
      note="no header, no size: this is a text about PNGs")
plain("plain-json", C, "a JSON tool result without any image", dump({"rows": [{"id": 1, "image": "hero.png", "data": "n/a"}], "type": "image", "next": None}),
      keeps=["hero.png"])
plain("plain-elision-marker", C, "a tool text that quotes a placeholder must not bring an image back",
      "[image 1 not shown; you have not seen it] sha256:2f0c1a call view(img_1)", covers=["regression:9"])
case("plain-elision-marker-assistant", A, "the model quotes a placeholder of an earlier turn",
     anthropic(auser("Look.", aimg("red.png")), aasst("I was told: [image 2 not shown; you have not seen it]."), auser("Then only image 1."), tools=None),
     sees=["red.png"], owners=["user"], covers=["regression:9"], keeps=["[image 2 not shown; you have not seen it]"])

PROSE = "Here is the logo: " + url("red.png") + " and that is all."
shape("longer-prose", C, "prose with a data URL in it: the picture is shown, the words stay", PROSE, sees=["red.png"],
      keeps=["Here is the logo: ", " and that is all."])
shape("longer-two-urls", R, "two data URLs in one string: both are shown", url("red.png") + "\n" + url("blue.png"),
      sees=["red.png", "blue.png"], covers=["edge:102"])
HTML = f'<html><body><img alt="logo" src="{url("green.png")}"><p>Hi</p></body></html>'
shape("longer-html", A, "a page source with an inline image, in a JSON tool result", dump({"status": 200, "html": HTML}),
      sees=["green.png"], keeps=["logo"])
plain("longer-truncated", C, "a client cut the data URL: nobody can see it any more", url("blue.png")[:600] + "... [truncated 1234 chars]",
      findings=["image_cut_off"], keeps=["[truncated 1234 chars]"])
case("longer-user-text", C, "a user text with a data URL in it",
     chat(user("Why does this not render? ![x](" + url("red.png") + ") I use Firefox."), tools=None),
     findings=["image_inside_longer_text"], sees=[], covers=[], keeps=["I use Firefox.", b64("red.png")])

# --- perception probe: the same picture by each way in ------------------------------------------------------------------

ASK = "Name the colour of each picture, in order. Answer with the words only."
PROBE = ["yellow.png", "black.png", "red.png"]
case("probe-chat", C, "probe body: one picture by the user, one in a tool message, one stringified",
     chat(user(ASK, img(PROBE[0], "high")), asst(None, call("p1", "screenshot", full_page=False), call("p2", "screenshot", full_page=True)),
          tool("p1", "probe", img(PROBE[1], "high")), tool("p2", dump([sdk6(PROBE[2])]))),
     findings=["image_as_text", "image_in_forbidden_role"], sees=PROBE, owners=["user", "p1", "p2"], covers=["regression:14"], keeps=[ASK])
case("probe-responses", R, "probe body: by the user, natively in an output, stringified",
     responses(ruser(ASK, rimg(PROBE[0], "high")), rcall("p1", "screenshot", full_page=False), rcall("p2", "screenshot", full_page=True),
               rout("p1", rimg(PROBE[1], "high")), rout("p2", dump([sdk6(PROBE[2])]))),
     findings=["image_as_text"], sees=PROBE, owners=["user", "p1", "p2"], covers=["regression:14"], keeps=[ASK])
case("probe-anthropic", A, "probe body: by the user, natively in a result, stringified",
     anthropic(auser(aimg(PROBE[0]), ASK), aasst(use("p1", "screenshot", full_page=False), use("p2", "screenshot", full_page=True)),
               auser(result("p1", aimg(PROBE[1])), result("p2", dump([sdk6(PROBE[2])])))),
     findings=["image_as_text"], sees=PROBE, owners=["user", "p1", "p2"], covers=["regression:14"], keeps=[ASK])
