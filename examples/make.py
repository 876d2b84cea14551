"""Writes request.json: what an agent on the AI SDK sends after its screenshot tool returned a picture.

The picture is a page with a table and a chart; Pillow draws it. `--check` compares the committed file with what would be
written.
"""
import base64, io, json, math, pathlib, sys
from PIL import Image, ImageDraw

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
from generated import same_pixels, write_or_check  # noqa: E402

page = Image.new("RGB", (1280, 800), "#f7f7f5")
draw = ImageDraw.Draw(page)
draw.rectangle((0, 0, 1280, 56), fill="#22313f")
draw.text((24, 20), "Orders - last 30 days", fill="white")
for row in range(18):
    y = 90 + row * 36
    draw.rectangle((24, y, 560, y + 34), fill="#ffffff" if row % 2 else "#eef1f4")
    draw.text((36, y + 10), f"#{10421 + row * 37}   customer {row * 7919 % 1000:03}   {row * 104729 % 99900 / 100:.2f} EUR", fill="#222222")
for x in range(600, 1256):
    height = 260 + 150 * math.sin(x / 37) + 90 * math.sin(x / 11 + 1)
    draw.line((x, 740, x, 740 - height), fill=(40 + x % 97, 110 + x * 31 % 90, 170 + x * 17 % 80))
picture = io.BytesIO()
page.save(picture, "PNG", optimize=True)

result = [
    {"type": "text", "text": "Screenshot of /orders"},
    {"type": "image-data", "data": base64.b64encode(picture.getvalue()).decode(), "mediaType": "image/png"},
]
body = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "You test web pages by looking at them."},
        {"role": "user", "content": "Does the orders page look right?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "screenshot", "arguments": "{\"path\":\"/orders\"}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": json.dumps(result, separators=(",", ":"))},
    ],
    "tools": [{"type": "function", "function": {"name": "screenshot", "description": "Take a screenshot of a page", "parameters": {
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}}],
}


def same_request(one, other):
    """Equal but for how the picture is packed."""
    requests = [json.loads(text) for text in (one, other)]
    results = [json.loads(request["messages"][3].pop("content")) for request in requests]
    pictures = [base64.b64decode(result[1].pop("data")) for result in results]
    return requests[0] == requests[1] and results[0] == results[1] and same_pixels(*pictures)


write_or_check({HERE / "request.json": json.dumps(body, separators=(",", ":")).encode()}, same_request)
