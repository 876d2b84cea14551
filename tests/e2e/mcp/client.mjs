// The official TypeScript SDK against `photic mcp`: binary, address over HTTP, folder, silent provider.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [photic, url, folder, silent] = process.argv.slice(2);
const BLIND = "no image";
let passed = 0;
const check = (name, right, told) => {
  if (!right) throw new Error(`node: ${name} failed: ${JSON.stringify(told)?.slice(0, 600)}`);
  passed += 1;
};

async function drive(name, transport, host) {
  const client = new Client({ name: host, version: "1" });
  await client.connect(transport);
  // Listing makes the SDK hold every result against its output schema.
  const { tools } = await client.listTools();
  check(`${name}: tools`, tools.map((tool) => tool.name).join() === "list,view,read,inspect,probe", tools);
  const call = (tool, args, options) => client.callTool({ name: tool, arguments: args }, undefined, options);

  const shot = await call("view", { source: "screens.png" });
  const structured = host === "ci";
  check(`${name}: structured content`, (shot.structuredContent !== undefined) === structured, shot._meta);
  const facts = (shot.structuredContent ?? shot._meta["photic.dev/result"]).view;
  check(`${name}: 4K screenshot`, facts.source_width === 3840 && facts.source_height === 2160, facts);
  check(`${name}: words, then the picture`, shot.content.map((block) => block.type).join() === "text,image", facts);
  check(`${name}: bounded`, JSON.stringify(shot).length <= 1048576, facts);
  const zoom = await call("view", { source: "screens.png", region: "1000,500,300,200" });
  check(`${name}: zoom`, zoom.content[1]._meta["photic.dev/result"].region.x === 1000, zoom.content[0]);
  const read = await call("read", { source: "notes.txt", lines: "2-3" });
  check(`${name}: read`, read.content[0].text.endsWith("two\nthree\n"), read);
  check(`${name}: its text once`, read.structuredContent === undefined && !JSON.stringify(read._meta).includes("three"), read);
  const listed = await call("list", {});
  check(`${name}: list`, listed.content[0].text.includes("\nscreens.png  PNG 3840x2160, "), listed);
  const page = await call("view", { source: "notes.txt" });
  check(`${name}: text as a page`, page.content[1].type === "image" && page.content[0].text.includes("lines 1 to 4"), page.content[0]);
  const no = await call("read", { source: "screens.png" });
  check(`${name}: refusal`, no.isError && no.content[0].text.includes("not_text"), no);
  const shown = await call("probe", {});
  const challenge = (shown.structuredContent ?? shown._meta["photic.dev/result"]).challenge.challenge;
  const found = await call("probe", { challenge, answer: BLIND });
  check(`${name}: probe`, found.content[0].text.startsWith("blind"), found);

  let signs = 0;
  const stop = new AbortController();
  const asked = call("inspect", { source: "screens.png", question: "What?" }, {
    signal: stop.signal,
    onprogress: () => { signs += 1; if (signs === 2) stop.abort("enough"); },
  });
  const ended = await asked.then(() => "answered", () => "aborted");
  check(`${name}: cancelled`, ended === "aborted" && signs >= 2, { ended, signs });
  const again = await call("read", { source: "notes.txt", lines: "1" });
  check(`${name}: after cancelling`, again.content[0].text.endsWith("one\n"), again);
  if (transport.terminateSession) await transport.terminateSession();
  await client.close();
}

const server = {
  command: photic,
  args: ["mcp", "--root", folder, "--model", "gpt-5.4"],
  env: { ...process.env, OPENAI_BASE_URL: `${silent}/v1`, OPENAI_API_KEY: "any" },
};
for (const host of ["ci", "claude-code"]) {
  await drive(`stdio as ${host}`, new StdioClientTransport(server), host);
  await drive(`http as ${host}`, new StreamableHTTPClientTransport(new URL(url)), host);
}
console.log(`node: ${passed} passed, 0 failed`);
process.exit(0);
