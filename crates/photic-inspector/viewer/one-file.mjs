// one-file.mjs PAGE SCRIPT STYLE: prints a page with script and style inside, and a policy that allows these alone.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [page, script, style] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8'));
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error('the script or the style would end its element');
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
process.stdout.write(page.replace('POLICY', () => policy).replace('STYLE', () => style).replace('SCRIPT', () => script));
