import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { foundation } from "./foundation.ts";
import { operator } from "./operator.ts";
import { type Figure, type Measurements, table } from "./table.ts";
import { webhooks } from "./webhooks.ts";

// make bench: measures every figure of the project on this machine and prints them as a table. `node
// test/bench/main.ts [names] [--save]` measures some, by the name of a group or of one measurement. With --save they
// become the baseline that is committed: a file for each group.

const groups: Record<string, Measurements> = { foundation, webhooks, operator };
const baselines = join(import.meta.dirname, "baselines");

const measure = async (group: string, wanted: readonly string[]): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [name, run] of Object.entries(groups[group] ?? {})) {
    if (wanted.length > 0 && !wanted.includes(name) && !wanted.includes(group)) continue;
    process.stderr.write(`measuring ${name} …\n`);
    figures.push(...(await run()));
  }
  return figures;
};

/** Figures that were not measured this time stay as they are. */
const save = (group: string, figures: readonly Figure[]): void => {
  const file = join(baselines, `${group}.json`);
  const names = figures.map(({ name }) => name);
  const kept = figuresOf(file).filter(({ name }) => !names.includes(name));
  const machine = { cores: cpus().length, model: cpus()[0]?.model, node: process.version };
  const baseline = { at: new Date().toISOString(), machine, figures: [...kept, ...figures] };
  mkdirSync(baselines, { recursive: true });
  writeFileSync(file, `${JSON.stringify(baseline, null, 2)}\n`);
};

const figuresOf = (file: string): Figure[] => {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { figures: Figure[] }).figures; // written above
  } catch {
    return []; // the first time
  }
};

const words = process.argv.slice(2);
const wanted = words.filter((word) => !word.startsWith("--"));
const known = Object.entries(groups).flatMap(([group, measurements]) => [group, ...Object.keys(measurements)]);
const unknown = wanted.filter((word) => !known.includes(word));
if (unknown.length > 0) throw new Error(`no such measurement: ${unknown.join(", ")}; there are ${known.join(", ")}`);
for (const group of Object.keys(groups)) {
  const figures = await measure(group, wanted);
  if (figures.length === 0) continue;
  process.stdout.write(`${table(figures)}\n`);
  if (words.includes("--save")) save(group, figures);
}
process.exit(0);
