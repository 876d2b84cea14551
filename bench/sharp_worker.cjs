// Reads `JOB IN OUT` lines, does each with sharp, prints `CPU_MS BYTES WIDTH HEIGHT TYPE`.
// `jpeg` and `png` are one pipeline each, `ladder` is seed 003's: every format, keep the smallest,
// then lower qualities, then smaller dimensions, all from one decoded and resized picture.
const fs = require("fs");
const readline = require("readline");
const sharp = require(process.argv[2]);

sharp.cache(false);
const EDGE = 1568;
const CAP = 500 * 1024;

const fit = (input) =>
  sharp(input).resize(EDGE, EDGE, { fit: "inside", withoutEnlargement: true });
const smallest = (files) => files.reduce((a, b) => (b.length < a.length ? b : a));

async function ladder(input) {
  const { data, info } = await fit(input).raw().toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const at = (scale) =>
    scale === 1
      ? sharp(data, { raw })
      : sharp(data, { raw }).resize(Math.round(raw.width * scale), Math.round(raw.height * scale));
  let best = smallest([
    await at(1).png().toBuffer(),
    await at(1).jpeg({ quality: 75 }).toBuffer(),
    await at(1).webp({ quality: 75 }).toBuffer(),
  ]);
  for (const scale of [1, 0.75, 0.5, 0.35, 0.25]) {
    if (Math.min(raw.width, raw.height) * scale < 100) break;
    for (const quality of [70, 60, 50, 40]) {
      if (best.length <= CAP) return best;
      best = smallest([
        await at(scale).jpeg({ quality }).toBuffer(),
        await at(scale).webp({ quality }).toBuffer(),
      ]);
    }
  }
  return best;
}

const JOBS = {
  jpeg: (input) => fit(input).jpeg({ quality: 75 }).toBuffer(),
  png: (input) => fit(input).png().toBuffer(),
  ladder,
  raw: (input) => fit(input).raw().toBuffer(),
};

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [job, source, target] = line.split(" ");
    const input = fs.readFileSync(source);
    const start = process.cpuUsage();
    const output = await JOBS[job](input);
    const used = process.cpuUsage(start);
    fs.writeFileSync(target, output);
    const facts = job === "raw" ? {} : await sharp(output).metadata();
    const ms = ((used.user + used.system) / 1000).toFixed(2);
    console.log(`${ms} ${output.length} ${facts.width} ${facts.height} image/${facts.format}`);
  }
})();
