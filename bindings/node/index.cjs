'use strict';

const { readFileSync } = require('node:fs');
const { readFile } = require('node:fs/promises');
const { fileURLToPath } = require('node:url');
const { photicWith } = require('./api.cjs');

const path = (source) => (source instanceof URL ? fileURLToPath(source) : source);

module.exports = photicWith({
  ...require('./native.cjs'),
  readFile: (source) => readFile(path(source)),
  readFileSync: (source) => readFileSync(path(source)),
});
