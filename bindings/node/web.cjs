'use strict';
// The module over a compiled WebAssembly module, without files.

const { photicWith } = require('./api.cjs');
const { callsOf } = require('./wasm.cjs');

function unread() {
  throw new TypeError('there are no files here: pass the bytes of the picture instead of its path');
}

exports.photicOf = (module) =>
  photicWith({ native: callsOf(module), backend: 'wasm', readFile: unread, readFileSync: unread });
