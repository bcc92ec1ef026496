import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that was started: its pid, and words of its command line that tell it from a later owner of the pid. */
export type ProcessRecord = { pid: number; marker: string };

const pollMs = 20;
const reapedWithinMs = 1_000; // a parent that never asks holds nobody up

/** Writes `DIR/run/NAME.pid`: the pid, then the marker, a line each. `make down` stops what it finds there. */
export const recordProcess = (dir: string, name: string, { pid, marker }: ProcessRecord): void => {
  const file = recordPath(dir, name);
  mkdirSync(join(dir, "run"), { recursive: true });
  writeFileSync(`${file}.new`, `${pid}\n${marker}\n`);
  renameSync(`${file}.new`, file);
};

/** Forgets a process that has ended. */
export const forgetProcess = (dir: string, name: string): void => rmSync(recordPath(dir, name), { force: true });

/** The recorded process, or null when nothing is recorded under this name. A record without marker means a Node program. */
export const readRecord = (dir: string, name: string): ProcessRecord | null => {
  const [pid, marker] = readText(recordPath(dir, name)).split("\n");
  return Number(pid) > 1 ? { pid: Number(pid), marker: marker || "node" } : null;
};

/** Names of everything recorded in a stack's folder. */
export const recordedNames = (dir: string): string[] => {
  const files = entriesOf(join(dir, "run")); // the folder is made by the first record
  return files.filter((file) => file.endsWith(".pid")).map((file) => file.slice(0, -".pid".length));
};

/** Whether the pid still belongs to the program that was recorded. */
export const isRunning = ({ pid, marker }: ProcessRecord): boolean => {
  const commandLine = readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
  return commandLine === "" ? isAlive(pid) : commandLine.includes(marker); // empty while it executes the next program
};

/** Sends a signal; does nothing when the process is gone. */
export const signalProcess = (record: ProcessRecord, signal: NodeJS.Signals): void => {
  if (!isRunning(record)) return;
  try {
    process.kill(record.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it may end between the look and the signal
  }
};

/** SIGSTOP; returns when none of its threads runs any more, which on a busy machine is a moment after the signal. */
export const pauseProcess = (record: ProcessRecord, withinMs = 5_000): void => {
  signalProcess(record, "SIGSTOP");
  const deadline = Date.now() + withinMs;
  while (threadsOf(record.pid).some((state) => state !== "T")) {
    if (Date.now() > deadline) throw new Error(`pid ${record.pid} (${record.marker}) does not heed SIGSTOP`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
};

/** Asks a process to end, waits up to `graceMs`, then ends it. */
export const endProcess = async (record: ProcessRecord, signal: NodeJS.Signals, graceMs = 10_000): Promise<void> => {
  signalProcess(record, signal);
  if (await hasEnded(record, graceMs)) return;
  await killProcess(record);
};

/** Kills a process and its children, as a power cut would, and waits until they are gone. */
export const killProcess = async (record: ProcessRecord): Promise<void> => {
  const family = [record, ...childrenOf(record.pid)];
  for (const member of family) signalProcess(member, "SIGKILL");
  for (const member of family) {
    if (!(await hasEnded(member, 10_000))) throw new Error(`pid ${member.pid} (${member.marker}) survives SIGKILL`);
    await isReaped(member);
  }
};

/** Ends the process recorded under a name, if it still runs, and forgets it. True when there was one to end. */
export const endRecorded = async (dir: string, name: string): Promise<boolean> => {
  const record = readRecord(dir, name);
  const runs = record !== null && isRunning(record);
  if (record && runs) {
    signalProcess(record, "SIGCONT"); // a paused process cannot heed SIGTERM
    await endProcess(record, name.endsWith("postgres") ? "SIGINT" : "SIGTERM"); // SIGINT: postgres' fast shutdown
  }
  forgetProcess(dir, name);
  return runs;
};

const recordPath = (dir: string, name: string): string => join(dir, "run", `${name}.pid`);

/** A zombie has ended: only its parent has not asked yet. */
const isAlive = (pid: number): boolean => /^State:\s+[^ZX]/m.test(readText(`/proc/${pid}/status`));

const hasEnded = async (record: ProcessRecord, timeoutMs: number): Promise<boolean> => {
  const deadline = Date.now() + timeoutMs;
  while (isRunning(record)) {
    if (Date.now() > deadline) return false;
    await sleep(pollMs);
  }
  return true;
};

/** Waits until the parent has asked: PostgreSQL takes a zombie of the former pid for a server that runs. */
const isReaped = async ({ pid }: ProcessRecord): Promise<void> => {
  const deadline = Date.now() + reapedWithinMs;
  while (readText(`/proc/${pid}/status`) !== "" && Date.now() < deadline) await sleep(pollMs);
};

const childrenOf = (pid: number): ProcessRecord[] =>
  readText(`/proc/${pid}/task/${pid}/children`)
    .split(" ")
    .map((child) => ({ pid: Number(child), marker: readText(`/proc/${child}/cmdline`).split(/[ \0]/)[0] ?? "" }))
    .filter(({ marker }) => marker !== "");

/** The states of a process's threads, as `ps` calls them; none when it is gone. */
const threadsOf = (pid: number): string[] =>
  entriesOf(`/proc/${pid}/task`).flatMap((thread) => {
    const state = /^State:\s+(\S)/m.exec(readText(`/proc/${pid}/task/${thread}/status`))?.[1];
    return state === undefined ? [] : [state];
  });

const entriesOf = (dir: string): string[] => {
  try {
    return readdirSync(dir);
  } catch {
    return []; // gone
  }
};

const readText = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // gone: the process ended, or was never recorded
  }
};
