import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { devDir, rootDir } from "./files/paths.ts";
import { inspectorAt } from "./processes/inspector.ts";

// node dev/profile.ts PROGRAM|PID [SECONDS]: profiles a program of this checkout that runs, writes what Chrome's and
// VS Code's developer tools open, and prints the functions that took most of the time. See docs/performance.md.

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
};

const inspector = "127.0.0.1:9229"; // where Node listens after SIGUSR1
const withinMs = 10_000;

const pidOf = (program: string): number => {
  const files = [join(rootDir, program, "main.ts"), join(devDir, "bundle", `${program}.js`)];
  const isIt = (pid: string): boolean =>
    /^\d+$/.test(pid) &&
    commandOf(pid)
      .split("\0")
      .some((word) => files.includes(word));
  const found = readdirSync("/proc").findLast(isIt);
  if (found === undefined) throw new Error(`no ${program} of this checkout runs`);
  return Number(found);
};

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // ended meanwhile
  }
};

/** Connects to a process's inspector, which listens only while this runs. */
const inspect = async (pid: number) => {
  process.kill(pid, "SIGUSR1");
  const { call, close: disconnect } = await inspectorAt(await addressOf());
  const close = async (): Promise<void> => {
    const expression = `setTimeout(() => process.getBuiltinModule("node:inspector").close(), 50)`;
    await call("Runtime.evaluate", { expression });
    disconnect();
    const endMs = performance.now() + withinMs;
    while ((await targets()) !== null && performance.now() < endMs) await sleep(20); // a signal before would be for nothing
  };
  return { call, close };
};

const addressOf = async (): Promise<string> => {
  for (const endMs = performance.now() + withinMs; performance.now() < endMs; await sleep(50)) {
    const [target] = (await targets()) ?? [];
    if (target !== undefined) return target.webSocketDebuggerUrl;
  }
  throw new Error(`the process does not listen at ${inspector}`);
};

/** What the inspector shows; null while it does not listen. */
const targets = async (): Promise<{ webSocketDebuggerUrl: string }[] | null> => {
  const reply = await fetch(`http://${inspector}/json/list`).catch(() => null);
  return reply === null ? null : ((await reply.json()) as { webSocketDebuggerUrl: string }[]); // as Node's inspector says
};

/** Time of each function itself, that of what it calls left out, the longest first. */
const slowest = ({ nodes, samples, timeDeltas }: Profile): [name: string, share: number][] => {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName || "(anonymous)"} ${url.replace(/^.*(node_modules\/|file:\/\/)/, "").replace(`${rootDir}/`, "")}:${lineNumber + 1}`,
    ]),
  );
  const times = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const name = names.get(id) ?? "";
    if (!name.startsWith("(idle)")) times.set(name, (times.get(name) ?? 0) + (timeDeltas[i] ?? 0));
  }
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times].map(([name, time]): [string, number] => [name, time / all]).sort((a, b) => b[1] - a[1]);
};

const [, , what = "", seconds = "10"] = process.argv;
const pid = /^\d+$/.test(what) ? Number(what) : pidOf(what);
const { call, close } = await inspect(pid);
await call("Profiler.enable");
await call("Profiler.start");
await sleep(Number(seconds) * 1000);
const { profile } = (await call("Profiler.stop")) as { profile: Profile }; // as the DevTools protocol says
await close();
const file = join(devDir, "profiles", `${what}-${Date.now()}.cpuprofile`);
await mkdir(join(devDir, "profiles"), { recursive: true });
await writeFile(file, JSON.stringify(profile));
for (const [name, share] of slowest(profile).slice(0, 30))
  console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${name}`);
console.log(file);
