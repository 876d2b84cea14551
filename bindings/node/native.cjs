'use strict';
// Loads the addon: the file beside this one, or the package of the platform.

const { existsSync } = require('node:fs');
const { join } = require('node:path');

function isMusl() {
  const report = process.report?.getReport?.();
  return process.platform === 'linux' && !report?.header?.glibcVersionRuntime;
}

function load() {
  const beside = join(__dirname, 'photic.node');
  if (existsSync(beside)) return require(beside);
  const libc = process.platform !== 'linux' ? '' : isMusl() ? '-musl' : '-gnu';
  const name = `@photic/node-${process.platform}-${process.arch}${libc}`;
  try {
    return require(name);
  } catch (cause) {
    throw new Error(
      `photic has no addon for this platform: cannot load \`${name}\`. Install it without \`--omit=optional\`, ` +
        'or run the gateway instead: `npx photic serve`.',
      { cause },
    );
  }
}

module.exports = load();
