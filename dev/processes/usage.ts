import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100; // USER_HZ of Linux

/** CPU of a process so far, µs, children that have ended left out. 0 when it is gone. */
export const cpuUs = (pid: number): number => {
  const fields = stat(pid);
  return fields === null ? 0 : ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6;
};

/** CPU of a process and everything it started, µs, with what has ended meanwhile and was waited for. */
export const treeCpuUs = (pid: number): number => descendants(pid).reduce((sum, one) => sum + withEndedUs(one), 0);

const withEndedUs = (pid: number): number => {
  const ticks = stat(pid)?.slice(11, 15).map(Number) ?? []; // utime, stime, cutime, cstime
  return (ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond) * 1e6;
};

/** Memory of a process now, MiB. */
export const rssMiB = (pid: number): number => statusKb(pid, "VmRSS") / 1024;

/** Most memory the process ever had, MiB. */
export const peakRssMiB = (pid: number): number => statusKb(pid, "VmHWM") / 1024;

const statusKb = (pid: number, key: string): number => {
  const line = readFileSync(`/proc/${pid}/status`, "utf8")
    .split("\n")
    .find((text) => text.startsWith(`${key}:`));
  return Number(line?.replace(/\D+/g, "") ?? Number.NaN);
};

const stat = (pid: number): string[] | null => {
  const text = unlessEnded(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? null;
};

/** A process and all that it started, directly or not. */
const descendants = (root: number): number[] => {
  const found = [root];
  for (const pid of found) found.push(...childrenOf(pid));
  return found;
};

/** Each thread has children of its own: proc(5), /proc/PID/task/TID/children. What has ended meanwhile has none. */
const childrenOf = (pid: number): number[] => {
  const threads = unlessEnded(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  const lists = threads.map((thread) =>
    unlessEnded(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")),
  );
  return lists.flatMap((list) => list?.split(" ").filter(Boolean).map(Number) ?? []);
};

const unlessEnded = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch {
    return null;
  }
};
