import { expect } from "chai";
import { eventually, isReady } from "./support/cluster/cluster.ts";
import { evaluate } from "./support/cluster/probe.ts";
import { type ProgramName, programs, releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

const withinMs = 180_000; // on a busy machine a pod takes a minute to start
const restsFromSeconds = 15; // after 3 s without work a program gives back what only its start needed
const restsBySeconds = 60; // its first seconds are work
const mostMiB = 110; // docs/decisions/0233: 140 and more without what is done for it, some 100 with it

/** What the container's only process says of itself. */
type Process = { ageSeconds: number; rssMiB: number; cpuMs: number };

describe("a pod with nothing to do", function () {
  this.timeout(600_000); // every wait inside has a bound of its own
  let at: System;

  before(async () => {
    at = await system();
    await at.release.settled();
  });

  after(() => at.release.settled());

  for (const program of programs) {
    it(`of the ${program} takes little memory once it has started, and says how long that took`, async () => {
      const pod = await renewed(at, program);
      const start = await startOf(at, pod);
      const { rssMiB, cpuMs } = await eventually(`${pod} at rest`, withinMs, async () => {
        const seen = await processOf(at, pod);
        const rests = seen.ageSeconds >= restsFromSeconds && seen.rssMiB < mostMiB;
        return rests || seen.ageSeconds >= restsBySeconds ? seen : null;
      });
      const started = `${start.tookMs} ms and ${start.cpuMs} ms of CPU to start (${JSON.stringify(start.slowestMs)} ms)`;
      const figures = `${started}, ${rssMiB.toFixed(0)} MiB at rest, ${cpuMs} ms of CPU by then`;
      console.log(`      ${program}: ${figures}`);
      expect(rssMiB).to.be.lessThan(mostMiB);
    });
  }
});

/** Deletes a pod of a program; the name of the one that takes its place, once it is ready. */
const renewed = async ({ cluster, release }: System, program: ProgramName): Promise<string> => {
  const before = (await release.pods(program)).map(({ metadata }) => metadata.name);
  await cluster.kubectl(["delete", "pod", before[0] ?? "", "--namespace", releaseName, "--wait=false"]);
  const fresh = await eventually(`another ready pod of the ${program}`, withinMs, async () => {
    const ready = (await release.pods(program)).filter(isReady);
    return ready.find(({ metadata }) => !before.includes(metadata.name)) ?? null;
  });
  return fresh.metadata.name;
};

/** From the start of the process until everything in it runs: time, CPU and its slowest parts, as it says itself. */
type Start = { tookMs: number; cpuMs: number; slowestMs: Record<string, number> };

const startOf = async (at: System, pod: string): Promise<Start> => {
  const log = await at.cluster.kubectl(["logs", pod, "--namespace", releaseName]);
  const line =
    log.split("\n").find((one) => one.includes('"program.started"')) ?? expect.fail(`${pod} has not started`);
  return JSON.parse(line) as Start; // of our own log
};

const processOf = async ({ cluster }: System, pod: string): Promise<Process> =>
  JSON.parse(await evaluate(cluster, { namespace: releaseName, pod }, ofTheFirstProcess)) as Process; // as it writes it

/** proc(5): the kernel counts in hundredths of a second, from the start of the machine. */
const ofTheFirstProcess = `
  const { readFileSync } = require("node:fs");
  const read = (path) => readFileSync("/proc/" + path, "utf8");
  const fields = read("1/stat").replace(/^.*\\) /s, "").split(" ");
  const upSeconds = Number(read("uptime").split(" ")[0]);
  const ageSeconds = upSeconds - Number(fields[19]) / 100;
  const rssMiB = Number(/^VmRSS:\\s+(\\d+)/m.exec(read("1/status"))[1]) / 1024;
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * 10;
  console.log(JSON.stringify({ ageSeconds, rssMiB, cpuMs }));
`;
