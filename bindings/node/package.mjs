// Makes the folder of the npm package: package.mjs FOLDER WASM [ADDON].
//
// The files of this folder are copied. Browsers and edge runtimes get one file each, in which the same modules stand
// behind a `require` of their own: they have none, and no bundler is needed.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const [folder, wasm, addon] = process.argv.slice(2);
const source = (name) => readFile(join(here, name), 'utf8');

// How each runtime gives a compiled module.
const RUNTIMES = {
  browser: `const response = await fetch(new URL('./photic.wasm', import.meta.url));
if (!response.ok) throw new Error(\`cannot load photic.wasm: \${response.status} \${response.statusText}\`);
const compiled = await WebAssembly.compile(await response.arrayBuffer());`,
  workerd: "import compiled from './photic.wasm';",
  'edge-light': "import compiled from './photic.wasm?module';",
};

const written = JSON.parse(await source('package.json'));
const isModule = (name) => name.endsWith('.cjs') && !['index.cjs', 'native.cjs'].includes(name);
await mkdir(join(folder, 'web'), { recursive: true });
for (const name of written.files.filter((name) => name !== 'web')) await cp(join(here, name), join(folder, name));
await cp(wasm, join(folder, 'web/photic.wasm'));
if (addon) {
  await cp(addon, join(folder, 'photic.node'));
  written.files.push('photic.node');
}
await writeFile(join(folder, 'package.json'), `${JSON.stringify(written, null, 2)}\n`);

const names = [...written.files.filter(isModule), 'web.cjs'];
const modules = await Promise.all(names.map(async (name) => `  './${name}': (exports, require) => {\n${await source(name)}  },\n`));
const [, exported] = /^(export const \{.*)$/ms.exec(await source('index.mjs'));
for (const [name, compiled] of Object.entries(RUNTIMES)) {
  await writeFile(join(folder, `web/${name}.mjs`), `${compiled}

const modules = {
${modules.join('')}};
const loaded = {};
function require(name) {
  if (!loaded[name]) modules[name]((loaded[name] = {}), require);
  return loaded[name];
}
const photic = require('./web.cjs').photicOf(compiled);
${exported}`);
}
