'use strict';
// Loads the addon: the file beside this one, or the package of the platform. Without one, the WebAssembly module.

const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

function isMusl() {
  const report = process.report?.getReport?.();
  return process.platform === 'linux' && !report?.header?.glibcVersionRuntime;
}

/** The addon of this platform; null if there is none. */
function addon() {
  const beside = join(__dirname, 'photic.node');
  if (existsSync(beside)) return require(beside);
  // The addons for Linux are linked to glibc.
  if (isMusl()) return null;
  const name = `@photic-dev/node-${process.platform}-${process.arch}`;
  try {
    return require(name);
  } catch (cause) {
    if (cause.code === 'MODULE_NOT_FOUND') return null;
    throw new Error(`cannot load the addon \`${name}\`: install \`photic\` again, or set PHOTIC_BACKEND=wasm`, { cause });
  }
}

function load() {
  const native = process.env.PHOTIC_BACKEND === 'wasm' ? null : addon();
  if (native) return { native, backend: 'native' };
  const file = join(__dirname, 'web/photic.wasm');
  return { native: require('./wasm.cjs').callsOf(new WebAssembly.Module(readFileSync(file))), backend: 'wasm' };
}

module.exports = load();
