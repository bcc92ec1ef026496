import { setTimeout as sleep } from "node:timers/promises";
import { type Part, runProgram } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";

/** A program of three parts whose behaviour and grace the test chooses by its arguments; says on stdout what it does. */
const [behaviour = "", graceMs] = process.argv.slice(2);
const say = (what: string): void => void process.stdout.write(`${what}\n`);
const timer = setInterval(() => undefined, 1_000);

const part = (name: string, change: Partial<Part> = {}): Part => ({
  name,
  start: async () => say(`start ${name}`),
  stop: () => sleep(50).then(() => say(`stop ${name}`)), // nobody who does not wait for it hears it
  ...change,
});

const middle: Record<string, Partial<Part>> = {
  "fails to start": { start: () => Promise.reject(new Error("no")) },
  "fails to stop": { stop: () => Promise.reject(new Error("no")) },
  "stops slowly": { stop: () => sleep(300).then(() => say("stop middle")) },
  "never stops": { stop: () => new Promise(() => undefined) }, // nor heeds the end of the grace
  "heeds the grace": {
    stop: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(say("gave up middle")))),
  },
  "starts slowly": { start: (signal) => sleep(10_000, undefined, { signal }) },
};

const after: Record<string, () => void> = {
  rejects: () => void Promise.reject(new Error("forgotten")),
  throws: () => {
    throw new Error("thrown");
  },
};
const crash = after[behaviour];
if (crash !== undefined) setTimeout(crash, 200);

const parts = [part("first"), part("middle", middle[behaviour]), part("last")];
async function* late(): AsyncGenerator<Part> {
  yield part("first");
  say("makes the rest");
  await sleep(behaviour === "never makes a part" ? 60_000 : 100);
  yield* parts.slice(1);
}
const code = await runProgram({
  log: createLog({ program: "test", level: "info" }),
  graceMs: Number(graceMs),
  parts: behaviour.includes("makes a part") ? late() : parts,
});
clearInterval(timer);
process.exit(code);
