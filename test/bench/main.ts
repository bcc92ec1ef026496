import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundledPrograms } from "../../dev/bundle/bundled-programs.ts";
import { devDir } from "../../dev/files/paths.ts";
import { withLock } from "../../dev/processes/lock.ts";
import type { Tally } from "../support/suite/reporter.ts";
import { analytics } from "./analytics/analytics.ts";
import { audience } from "./audience/audience.ts";
import { callbacks } from "./callbacks/callbacks.ts";
import { conversations } from "./conversations/conversations.ts";
import { besideBusyCore } from "./cores.ts";
import { devices } from "./devices/devices.ts";
import { customEvents } from "./events/custom-events.ts";
import { exports } from "./exports/exports.ts";
import { warehouse } from "./exports/warehouse.ts";
import { calibrate } from "./figures/calibrate.ts";
import { type JudgedFigure, reachPushUs } from "./figures/figure.ts";
import { foundation } from "./foundation.ts";
import { imports } from "./imports/imports.ts";
import { kubectl } from "./kubectl/kubectl.ts";
import { type Course, type Measurements, measureAll } from "./measure-all.ts";
import { million } from "./messages/million.ts";
import { rules } from "./messages/rules.ts";
import { measureStages } from "./messages/stages.ts";
import { tenants } from "./messages/tenants.ts";
import { why } from "./messages/why.ts";
import { operator } from "./operator/operator.ts";
import { people } from "./people/user-batches.ts";
import { requests } from "./requests.ts";
import { shortRound, wholeRound } from "./servers.ts";
import { templates } from "./templates/templates.ts";
import { webhooks } from "./webhooks/webhooks.ts";

// make bench: measures every figure of the project on this machine and prints each when it is known. The first line is
// the calibration: what a push by node:http2 alone costs here and now; it is made anew before each piece of work. `node test/bench/main.ts [names]` measures some, by
// the name of a group or of one measurement. With --save they become the baseline that is committed: a file for each
// group. With --short everything is only tried, in seconds; with --busy all is measured while a loop keeps one core
// busy. The last line says how many measurements passed and failed. What it starts ends with it, however it ends.

const all: Record<string, Measurements> = {
  requests,
  foundation,
  rules,
  million: { ...million, "million-stages": measureStages },
  why,
  tenants,
  analytics,
  callbacks,
  conversations,
  webhooks,
  exports,
  warehouse,
  imports,
  "custom-events": customEvents,
  people,
  devices,
  audience,
  templates,
  operator,
  kubectl,
};
const baselines = join(import.meta.dirname, "baselines");
const whole = { withinMs: 1_800_000, calibration: { pushes: 50_000, warmUp: 5_000 } }; // a million deliveries: ten minutes
const short: typeof whole = { withinMs: 300_000, calibration: { pushes: 500, warmUp: 100 } };

/** The measurements that the command line names; all of them when it names none. */
const chosen = (names: readonly string[]): Record<string, Measurements> => {
  const known = Object.entries(all).flatMap(([group, measurements]) => [group, ...Object.keys(measurements)]);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no such measurement: ${unknown.join(", ")}; there are ${known.join(", ")}`);
  const isChosen = (name: string): boolean => names.length === 0 || names.includes(name);
  return Object.fromEntries(
    Object.entries(all).map(([group, measurements]) => [
      group,
      Object.fromEntries(Object.entries(measurements).filter(([name]) => isChosen(name) || isChosen(group))),
    ]),
  );
};

/** Figures that were not measured this time stay as they are. */
const save = (group: string, figures: readonly JudgedFigure[], pushUs: number): void => {
  const file = join(baselines, `${group}.json`);
  const names = figures.map(({ name }) => name);
  const kept = figuresOf(file).filter(({ name }) => !names.includes(name));
  const machine = { cores: cpus().length, model: cpus()[0]?.model, node: process.version, pushUs };
  const baseline = { at: new Date().toISOString(), machine, figures: [...kept, ...figures] };
  mkdirSync(baselines, { recursive: true });
  writeFileSync(file, `${JSON.stringify(baseline, null, 2)}\n`);
};

const figuresOf = (file: string): JudgedFigure[] => {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { figures: JudgedFigure[] }).figures; // written above
  } catch {
    return []; // the first time
  }
};

const flag = { type: "boolean", default: false } as const;
const { values, positionals } = parseArgs({
  options: { save: flag, short: flag, busy: flag },
  allowPositionals: true,
});
if (values.save && (values.short || values.busy))
  throw new Error("only a whole round on a quiet machine is to be saved");
const groups = chosen(positionals);

const measure = async (): Promise<Tally> => {
  Object.assign(process.env, await bundledPrograms()); // what the image starts
  const { withinMs, calibration } = values.short ? short : whole;
  const pushUs = await calibrate(calibration);
  console.log(`a push by node:http2 alone: ${pushUs.toFixed(1)} µs CPU; µs and /s are scaled to ${reachPushUs} µs`);
  const keep: Course["keep"] = (group, figures) => (values.save ? save(group, figures, pushUs) : undefined);
  const course = { groups, print: console.log, keep, withinMs };
  const round = values.short
    ? shortRound({ isBusy: values.busy, pushUs: async () => pushUs })
    : wholeRound({ isBusy: values.busy, pushUs: () => calibrate(calibration) });
  const measureChosen = () => measureAll({ ...course, round }).finally(round.close);
  return values.busy ? besideBusyCore(measureChosen) : measureChosen();
};

const { passed, failed } = await withLock(join(devDir, "test.lock"), measure);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
