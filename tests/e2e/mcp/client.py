"""The official Python SDK against `photic mcp`: binary, address over HTTP, a folder of sources, and the address of a
provider that never answers. Both transports, the current version of the protocol and the previous one."""
import asyncio, base64, io, json, sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from PIL import Image

photic, url, folder, silent = sys.argv[1:]
COLORS = {"red": (220, 30, 40), "green": (30, 150, 60), "blue": (30, 70, 210), "yellow": (245, 220, 40),
          "orange": (245, 130, 20), "purple": (130, 40, 160), "cyan": (50, 200, 220), "pink": (250, 150, 200),
          "white": (250, 250, 250), "black": (15, 15, 15)}
GUESS = ", ".join(["red"] * 16)
passed = 0


def check(name, right, told=""):
    global passed
    if not right:
        sys.exit(f"python: {name} failed: {str(told)[:600]}")
    passed += 1


def picture(result):
    image = next(block for block in result.content if block.type == "image")
    return Image.open(io.BytesIO(base64.b64decode(image.data))).convert("RGB")


def look(result):
    """The colors of a chart, from its pixels."""
    pixels = picture(result)
    cell = lambda x, y: pixels.getpixel((pixels.width * (2 * x + 1) // 8, pixels.height * (2 * y + 1) // 8))
    far = lambda a, b: sum((p - q) ** 2 for p, q in zip(a, b))
    name = lambda pixel: min(COLORS, key=lambda color: far(COLORS[color], pixel))
    return ", ".join(name(cell(x, y)) for y in range(4) for x in range(4))


async def verdict(client, answer):
    for _ in range(4):  # a guess is too good once in some hundred times
        shown = await client.call_tool("probe", {})
        challenge = shown.structured_content["challenge"]["challenge"]
        said = {"challenge": challenge, "answer": answer(shown), "control": GUESS}
        found = (await client.call_tool("probe", said)).structured_content["finding"]
        if found["verdict"] != "cannot_tell":
            return found["verdict"]
    return "cannot_tell"


async def drive(name, server, mode, version):
    async with Client(server, mode=mode) as client:
        check(f"{name}: version", client.protocol_version == version, client.protocol_version)
        tools = (await client.list_tools()).tools
        check(f"{name}: tools", [tool.name for tool in tools] == ["list", "view", "read", "inspect", "probe"], tools)

        shot = await client.call_tool("view", {"source": "screens.png"})
        facts = shot.structured_content["view"]
        check(f"{name}: 4K screenshot", not shot.is_error and (facts["source_width"], facts["source_height"]) == (3840, 2160), facts)
        check(f"{name}: its pixels", picture(shot).size == (facts["width"], facts["height"]), facts)
        check(f"{name}: words first", [block.type for block in shot.content] == ["text", "image"], shot.content[0])
        check(f"{name}: bounded", len(shot.model_dump_json()) <= 1_048_576)

        zoom = await client.call_tool("view", {"source": "screens.png", "region": "1000,500,300,200"})
        facts = zoom.structured_content["view"]
        check(f"{name}: zoom", facts["region"] == {"x": 1000, "y": 500, "width": 300, "height": 200}, facts)
        original = Image.open(f"{folder}/screens.png").convert("RGB").crop((1000, 500, 1300, 700))
        check(f"{name}: pixels of the original", picture(zoom).resize((300, 200), Image.Resampling.NEAREST).tobytes() == original.tobytes(), facts)

        read = await client.call_tool("read", {"source": "notes.txt", "lines": "2-3"})
        check(f"{name}: read", read.content[0].text == "lines 2-3 of 4\ntwo\nthree\n" and read.structured_content is None, read)
        listed = await client.call_tool("list", {})
        check(f"{name}: list", "\nscreens.png  PNG 3840x2160, " in listed.content[0].text, listed)
        near = await client.call_tool("view", {"source": "screen.png"})
        check(f"{name}: near names", near.structured_content["refusal"]["candidates"] == ["screens.png"], near)

        page = await client.call_tool("view", {"source": "notes.txt"})
        check(f"{name}: text as a page", page.structured_content["view"]["lines"] == [1, 4] and picture(page).width > 500, page.structured_content)
        no = await client.call_tool("read", {"source": "screens.png"})
        check(f"{name}: refusal", no.is_error and "refused (not_text)" in no.content[0].text, no)
        check(f"{name}: the way on", "`view`" in no.content[0].text, no)

        check(f"{name}: probe, looking", await verdict(client, look) == "sees")
        check(f"{name}: probe, guessing", await verdict(client, lambda shown: GUESS) == "blind")
        check(f"{name}: probe, honest", await verdict(client, lambda shown: "no image") == "blind")

        signs = []
        async def sign(progress, total, message):
            signs.append(message)
        ask = client.call_tool("inspect", {"source": "screens.png", "question": "What?"}, progress_callback=sign)
        task = asyncio.ensure_future(ask)
        for _ in range(300):
            await asyncio.sleep(0.1)
            if signs:
                break
        check(f"{name}: progress", signs and not task.done(), task)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        check(f"{name}: cancelled", task.cancelled(), task)
        told = len(signs)
        again = await client.call_tool("read", {"source": "notes.txt", "lines": "1"})
        check(f"{name}: after cancelling", again.content[0].text.endswith("\none\n"), again)
        await asyncio.sleep(1.5)
        check(f"{name}: no signs after cancelling", len(signs) <= told + 1, signs)


async def main():
    environment = {"OPENAI_BASE_URL": f"{silent}/v1", "OPENAI_API_KEY": "any"}
    stdio = StdioServerParameters(command=photic, args=["mcp", "--root", folder, "--model", "gpt-5.4"], env=environment)
    for where, server in (("stdio", stdio), ("http", url)):
        for mode, version in (("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")):
            await drive(f"{where} {mode}", server, mode, version)


asyncio.run(main())
print(f"python: {passed} passed, 0 failed")
