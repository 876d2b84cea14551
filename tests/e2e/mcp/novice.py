"""A scripted model with no prior knowledge, over the official Python SDK: PHOTIC FOLDER PROVIDER NUMBER CHART.

It finds, looks at, zooms and asks about pictures. Every tool name, argument name and value that it sends stood before in
the task, the instructions, the list of tools or an answer; only a region may be computed, from the words that came with
a view. Its eyes are PROVIDER, which reads what a model would read in the pixels that arrive."""
import asyncio, json, re, sys, urllib.request

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

photic, folder, provider, number, chart = sys.argv[1:]
QUESTION = "Which colors does the chart show?"
TASK = f"Which number stands in screen.png? And: {QUESTION} It is somewhere in the folder, named chart."
REGION = r"\d+,\d+,\d+,\d+"


def fail(why, told):
    sys.exit(f"novice (python): {why}: {str(told)[:800]}")


class Novice:
    """Knows what it was told, and passes nothing else."""

    def __init__(self, client):
        self.client, self.told, self.tools, self.calls = client, TASK, {}, 0

    async def begin(self):
        if not self.client.instructions:
            fail("the server gives no instructions", None)
        self.told += "\n" + self.client.instructions
        for tool in (await self.client.list_tools()).tools:
            self.tools[tool.name] = tool
            self.told += f"\n{tool.name}: {tool.description}\n{json.dumps(tool.input_schema, ensure_ascii=False)}"

    def tool(self, *needs, says=""):
        """The tool that takes these arguments and whose description says this."""
        fits = [one.name for one in self.tools.values() if set(needs) <= set(one.input_schema["properties"]) and says in one.description]
        if len(fits) != 1:
            fail(f"{len(fits)} tools take {needs} and say {says!r}", list(self.tools))
        return fits[0]

    async def call(self, name, computed=(), **arguments):
        properties = self.tools[name].input_schema["properties"]
        for argument, value in arguments.items():
            if argument not in properties:
                fail(f"`{argument}` of `{name}` is in no schema", properties)
            if argument in computed:
                if not re.fullmatch(properties[argument]["pattern"], value):
                    fail(f"{value} is not as the schema of `{argument}` says", properties[argument])
            elif value not in self.told:
                fail(f"nobody told it {value!r}", self.told[-800:])
        missing = set(self.tools[name].input_schema.get("required", [])) - set(arguments)
        if missing:
            fail(f"`{name}` lacks {missing}", arguments)
        self.calls += 1
        result = await self.client.call_tool(name, arguments)
        words = "\n".join(block.text for block in result.content if block.type == "text")
        self.told += "\n" + words
        return result, words


def look(result):
    """What a model sees in the picture of a result."""
    image = next((block for block in result.content if block.type == "image"), None)
    if image is None:
        fail("no picture came", result)
    url = f"data:{image.mime_type};base64,{image.data}"
    parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]
    body = json.dumps({"model": "gpt-5.4", "messages": [{"role": "user", "content": parts}]}).encode()
    request = urllib.request.Request(f"{provider}/v1/chat/completions", body, {"content-type": "application/json", "authorization": "Bearer any"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


def mapped(words, at):
    """Maps a rectangle of a view to the original, by the words that came with the view."""
    found = re.search(r"\(x, y\) here is \((?:([\d.]+) \+ )?([\d.]*)x, (?:([\d.]+) \+ )?([\d.]*)y\) in the original", words)
    if not found:
        fail("nothing tells how a point maps to the original", words)
    left, across, top, down = (float(part or default) for part, default in zip(found.groups(), (0, 1, 0, 1)))
    x, y, width, height = at
    return [left + across * x, top + down * y, across * width, down * height]


async def find(novice, wanted):
    """Goes through the folders until a listed path names the picture."""
    lister, folders = novice.tool("folder", says="List"), [None]
    while folders:
        folder = folders.pop(0)
        _, words = await novice.call(lister, **({"folder": folder} if folder else {}))
        for line in words.splitlines()[1:]:
            path, _, facts = line.partition("  ")
            if wanted in path and facts.startswith("PNG"):
                return path, facts
            if facts == "folder":
                folders.append(path)
    fail(f"no listing names {wanted}", novice.told[-800:])


async def main():
    server = StdioServerParameters(command=photic, args=["mcp", "--root", folder, "--for", "gpt-5.4", "--model", "gpt-5.4"],
                                   env={"OPENAI_BASE_URL": f"{provider}/v1", "OPENAI_API_KEY": "any"})
    async with Client(server) as client:
        novice = Novice(client)
        await novice.begin()
        for word in ("https", "img_", "fresh"):
            if word in novice.told:
                fail(f"{word} is offered and cannot work", novice.told)
        view = novice.tool("region", says="picture")

        # The user's name is wrong; the refusal leads to the file.
        refused, words = await novice.call(view, source="screen.png")
        if not refused.is_error or "Candidates: " not in words:
            fail("a near name is not offered", words)
        path = words.partition("Candidates: ")[2].split(" · ")[0]
        listed, facts = await find(novice, "screens")
        if listed != path or "3840x2160" not in facts:
            fail("the listing and the candidate disagree", (listed, facts, path))

        whole, words = await novice.call(view, source=path)
        seen = look(whole)
        frame = re.search(rf"too small to read, at ({REGION})", seen)
        if number in seen or not frame:
            fail("the number could be read without a zoom", seen)
        region = mapped(words, map(int, frame[1].split(",")))
        asked = ",".join(str(round(edge)) for edge in region)
        zoomed, words = await novice.call(view, computed=["region"], source=path, region=asked)
        if f"region {asked}" not in words:
            fail("another region is shown", words)
        seen = look(zoomed)
        if number not in seen:
            fail(f"the number {number} is not in the zoom", seen)
        shown = re.search(r"shown as (\d+)x(\d+)", words)
        corners = mapped(words, (0, 0, int(shown[1]), int(shown[2])))
        if any(abs(edge - float(wanted)) > 0.1 for edge, wanted in zip(corners, asked.split(","))):
            fail("the corners of the zoom do not map to the corners of the region", (corners, asked))

        picture, _ = await find(novice, "chart")
        answer, words = await novice.call(novice.tool("question"), source=picture, question=QUESTION)
        if answer.is_error or chart not in words:
            fail("the other model's answer is missing", words)

        # It comes from outside, so its value is the user's; what counts is the way on.
        novice.told += "\nAnd what does ../secret.txt say?"
        refused, words = await novice.call(novice.tool("lines"), source="../secret.txt")
        if not refused.is_error or folder not in words or "list" not in words:
            fail("the refusal does not name the folder that may be read", words)
        print(f"novice (python): found, viewed, zoomed and inspected in {novice.calls} calls")


asyncio.run(main())
