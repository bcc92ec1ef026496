import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { devDir } from "../../dev/files/paths.ts";
import { withLock } from "../../dev/processes/lock.ts";
import { foundation } from "./foundation.ts";
import { type Measurements, measureAll } from "./measure-all.ts";
import { operator } from "./operator/operator.ts";
import { requests } from "./requests.ts";
import { shortRound, wholeRound } from "./servers.ts";
import type { Figure } from "./table.ts";
import { webhooks } from "./webhooks/webhooks.ts";

// make bench: measures every figure of the project on this machine and prints each when it is known. `node
// test/bench/main.ts [names]` measures some, by the name of a group or of one measurement. With --save they become the
// baseline that is committed: a file for each group. With --short everything is only tried, in seconds. The last line
// says how many measurements passed and failed. What it starts ends with it, however it ends.

const groups: Record<string, Measurements> = { requests, foundation, webhooks, operator };
const baselines = join(import.meta.dirname, "baselines");
const withinMs = { whole: 1_800_000, short: 300_000 }; // a million deliveries take some ten minutes, a short round one

/** The measurements that the command line names; all of them when it names none. */
const chosen = (names: readonly string[]): Record<string, Measurements> => {
  const known = Object.entries(groups).flatMap(([group, measurements]) => [group, ...Object.keys(measurements)]);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no such measurement: ${unknown.join(", ")}; there are ${known.join(", ")}`);
  const isChosen = (name: string): boolean => names.length === 0 || names.includes(name);
  return Object.fromEntries(
    Object.entries(groups).map(([group, measurements]) => [
      group,
      Object.fromEntries(Object.entries(measurements).filter(([name]) => isChosen(name) || isChosen(group))),
    ]),
  );
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

const { values, positionals } = parseArgs({
  options: { save: { type: "boolean", default: false }, short: { type: "boolean", default: false } },
  allowPositionals: true,
});
if (values.save && values.short) throw new Error("a short round's figures say nothing: they are not to be saved");
const course = { groups: chosen(positionals), print: console.log, keep: values.save ? save : () => undefined };

const inShort = async () => {
  const round = shortRound();
  return measureAll({ ...course, round, withinMs: withinMs.short }).finally(round.close);
};
const whole = () => measureAll({ ...course, round: wholeRound, withinMs: withinMs.whole });

const { passed, failed } = await withLock(join(devDir, "test.lock"), values.short ? inShort : whole);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
