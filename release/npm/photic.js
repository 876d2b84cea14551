#!/usr/bin/env node
// Starts the program of the platform package. It takes over standard input and output, signals and the exit code.
"use strict";
const { spawn } = require("node:child_process");

const name = `@photic-dev/cli-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "photic.exe" : "photic";
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`error: the package \`${name}\`, which holds photic for this machine, is not installed
hint: install without \`--no-optional\` and \`--omit=optional\`; if there is no such package, build from source: \`cargo install photic-cli\``);
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]) {
  // A terminal sends its signals to both. photic decides when to end, and this process ends after it.
  try {
    process.on(signal, () => signal === "SIGINT" && process.stdin.isTTY || child.kill(signal));
  } catch {
    // Windows does not know all of them.
  }
}
child.on("error", (error) => {
  console.error(`error: cannot start \`${program}\`: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
