import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { command } from "../../dev/processes/run-command.ts";
import type { SystemProgram } from "../support/system/system.ts";

/** Does some work while a loop keeps one core busy, which ends with the work, or with this process. */
export const besideBusyCore = async <T>(work: () => Promise<T>): Promise<T> => {
  const [core] = cores();
  const tied = ["--pdeathsig", "KILL", "--", "taskset", "--cpu-list", `${core}`];
  const loop = spawn("setpriv", [...tied, process.execPath, "--eval", "for (;;);"], { stdio: "ignore" });
  const ended = once(loop, "exit"); // rejects when there is no such program
  ended.catch(() => undefined); // it is awaited below
  try {
    const done = await work();
    if (loop.exitCode !== null) throw new Error("the loop that keeps a core busy has ended too early");
    return done;
  } finally {
    loop.kill("SIGKILL");
    await ended;
  }
};

/** Does some work while each program may use one core only: the first one the first core, the second one the second. */
export const onOneCoreEach = async <T>(programs: readonly SystemProgram[], work: () => Promise<T>): Promise<T> => {
  const all = cores();
  for (const [n, program] of programs.entries()) await allow(program, [all[n % all.length] ?? 0]);
  try {
    return await work();
  } finally {
    for (const program of programs) await allow(program, all); // in a short round it runs on
  }
};

const allow = (program: SystemProgram, some: readonly number[]): Promise<string> =>
  command(["taskset", "--all-tasks", "--cpu-list", "--pid", some.join(","), `${program.pid()}`]);

/** Cores that this process may use. */
const cores = (): number[] => {
  const [, list = ""] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, n) => first + n);
  });
};
