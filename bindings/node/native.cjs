'use strict';
// Loads the addon: the file beside this one, or the package of the platform. Without one, the WebAssembly module.

const { Buffer } = require('node:buffer');
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

// No package for this platform; or one that is linked to another C library, as on Alpine Linux.
const MISSING = new Set(['MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED']);

/** The addon of this platform; null if there is none. */
function addon() {
  const beside = join(__dirname, 'photic.node');
  if (existsSync(beside)) return require(beside);
  try {
    return require(`@photic-dev/node-${process.platform}-${process.arch}`);
  } catch (error) {
    if (MISSING.has(error.code)) return null;
    throw error;
  }
}

function load() {
  const native = process.env.PHOTIC_BACKEND === 'wasm' ? null : addon();
  if (native) return { native, backend: 'native', room: Buffer.allocUnsafeSlow };
  const file = join(__dirname, 'web/photic.wasm');
  return { native: require('./wasm.cjs').callsOf(new WebAssembly.Module(readFileSync(file))), backend: 'wasm' };
}

module.exports = load();
