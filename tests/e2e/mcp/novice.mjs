// The novice of novice.py over the official TypeScript SDK: PHOTIC FOLDER PROVIDER NUMBER CHART.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [photic, folder, provider, number, chart] = process.argv.slice(2);
const QUESTION = "Which colors does the chart show?";
const TASK = `Which number stands in screen.png? And: ${QUESTION} It is somewhere in the folder, named chart.`;
const fail = (why, told) => {
  throw new Error(`novice (node): ${why}: ${String(typeof told === "string" ? told : JSON.stringify(told)).slice(0, 800)}`);
};

const env = { ...process.env, OPENAI_BASE_URL: `${provider}/v1`, OPENAI_API_KEY: "any" };
const args = ["mcp", "--root", folder, "--for", "gpt-5.4", "--model", "gpt-5.4"];
const client = new Client({ name: "novice", version: "1" });
await client.connect(new StdioClientTransport({ command: photic, args, env }));

// Whatever it passes must stand in here.
let told = `${TASK}\n${client.getInstructions() ?? fail("the server gives no instructions")}`;
let calls = 0;
const { tools } = await client.listTools();
for (const tool of tools) told += `\n${tool.name}: ${tool.description}\n${JSON.stringify(tool.inputSchema)}`;
for (const word of ["https", "img_", "fresh"]) if (told.includes(word)) fail(`${word} is offered and cannot work`, told);

const tool = (argument, says = "") => {
  const fits = tools.filter((one) => argument in one.inputSchema.properties && one.description.includes(says));
  if (fits.length !== 1) fail(`${fits.length} tools take ${argument} and say ${says}`, tools.map((one) => one.name));
  return fits[0];
};
async function call(one, given, computed = []) {
  const { properties, required = [] } = one.inputSchema;
  for (const [name, value] of Object.entries(given)) {
    if (!(name in properties)) fail(`${name} of ${one.name} is in no schema`, properties);
    if (computed.includes(name)) new RegExp(properties[name].pattern).test(value) || fail("not as the schema says", value);
    else if (!told.includes(value)) fail(`nobody told it ${value}`, told.slice(-800));
  }
  for (const name of required) if (!(name in given)) fail(`${one.name} lacks ${name}`, given);
  calls += 1;
  const result = await client.callTool({ name: one.name, arguments: given });
  const words = result.content.filter((block) => block.type === "text").map((block) => block.text).join("\n");
  told += `\n${words}`;
  return { result, words };
}

async function look(result) {
  const image = result.content.find((block) => block.type === "image") ?? fail("no picture came", result);
  const url = `data:${image.mimeType};base64,${image.data}`;
  const content = [{ type: "text", text: "What is it?" }, { type: "image_url", image_url: { url } }];
  const headers = { "content-type": "application/json", authorization: "Bearer any" };
  const body = JSON.stringify({ model: "gpt-5.4", messages: [{ role: "user", content }] });
  const reply = await fetch(`${provider}/v1/chat/completions`, { method: "POST", headers, body });
  return (await reply.json()).choices[0].message.content;
}

function mapped(words, [x, y, width, height]) {
  const factors = /\(x, y\) here is \((?:([\d.]+) \+ )?([\d.]*)x, (?:([\d.]+) \+ )?([\d.]*)y\) in the original/.exec(words);
  if (!factors) fail("nothing tells how a point maps to the original", words);
  const [left, across, top, down] = [0, 1, 0, 1].map((none, index) => Number(factors[index + 1] || none));
  return [left + across * x, top + down * y, across * width, down * height];
}

async function find(wanted) {
  const folders = [undefined];
  while (folders.length) {
    const next = folders.shift();
    const { words } = await call(tool("folder", "List"), next ? { folder: next } : {});
    for (const line of words.split("\n").slice(1)) {
      const [path, facts = ""] = line.split("  ");
      if (path.includes(wanted) && facts.startsWith("PNG")) return path;
      if (facts === "folder") folders.push(path);
    }
  }
  fail(`no listing names ${wanted}`, told.slice(-800));
}

const view = tool("region", "picture");
const refused = await call(view, { source: "screen.png" });
if (!refused.result.isError) fail("a file that is not there was shown", refused.words);
const path = refused.words.split("Candidates: ")[1]?.split(" · ")[0] ?? fail("a near name is not offered", refused.words);
const listed = await find("screens");
if (listed !== path) fail("the listing and the candidate disagree", [listed, path]);

const whole = await call(view, { source: path });
const seen = await look(whole.result);
const frame = /too small to read, at (\d+),(\d+),(\d+),(\d+)/.exec(seen) ?? fail("the frame is not seen", seen);
const asked = mapped(whole.words, frame.slice(1).map(Number)).map(Math.round).join();
const zoom = await call(view, { source: path, region: asked }, ["region"]);
const closer = await look(zoom.result);
if (seen.includes(number) || !closer.includes(number)) fail("the zoom does not show the number", [seen, closer]);

const answer = await call(tool("question"), { source: await find("chart"), question: QUESTION });
if (answer.result.isError || !answer.words.includes(chart)) fail("the other model's answer is missing", answer.words);
// Text comes once: no data repeats it.
if (answer.result.structuredContent !== undefined) fail("the answer comes twice", answer.result);

console.log(`novice (node): found, viewed, zoomed and inspected in ${calls} calls`);
await client.close();
process.exit(0);
