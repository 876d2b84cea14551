// Prints the hostile texts, a line of JSON each, for an agent that says them.
import { TEXTS } from './hostile.ts';

for (const [, text] of TEXTS) {
  const short = text.replace(/[\ud800-\udfff]/g, '').slice(0, 2000);
  if (short.trim()) console.log(JSON.stringify(short));
}
