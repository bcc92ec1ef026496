import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isFree } from "./free-ports.ts";
import {
  endProcess,
  forgetProcess,
  isRunning,
  killProcess,
  pauseProcess,
  recordProcess,
  signalProcess,
} from "./records.ts";

/**
 * How a server is started. `dir` keeps its data, log and pid, `name` sets it apart there. A `detached` server outlives
 * the program that started it (`make up`); another one is killed with it, however it ends. What a `throwaway` one holds
 * survives its own end, but not the machine's: it does not wait for the disk.
 */
export type ServerOptions = { dir: string; name?: string; detached?: boolean; throwaway?: boolean };

/** What to run and how to tell that it serves. `marker` are words of its command line that no other process has. */
export type Launch = {
  name: string;
  dir: string;
  command: readonly string[];
  marker: string;
  /** Where it is going to listen: nobody else may. */
  ports?: readonly number[];
  detached: boolean;
  isReady: (pid: number) => Promise<boolean>;
  stopSignal?: NodeJS.Signals;
  /** Added to our own environment. */
  env?: Readonly<Record<string, string>>;
};

/** A process that was started and answered. */
export type ServerProcess = {
  pid: number;
  /** Ends it in good order. */
  stop: () => Promise<void>;
  /** SIGKILL, to it and its children. */
  kill: () => Promise<void>;
  /** SIGSTOP: from now on connections stay open, and nothing is answered. */
  pause: () => void;
  /** SIGCONT. */
  resume: () => void;
};

/** A server as tests and the stack see it. */
export type Server = Omit<ServerProcess, "pid"> & { url: string; pids: number[] };

const readyTimeoutMs = 180_000; // kube-apiserver takes 6 s on two idle cores, and 60 at low priority beside a suite
const pollMs = 25;
const freeTimeoutMs = 1_000;

/** Starts a server and waits until it is ready. Throws with the end of its log when it dies or takes over three minutes. */
export const launch = async (what: Launch): Promise<ServerProcess> => {
  const { name, dir, marker, isReady, stopSignal = "SIGTERM" } = what;
  await Promise.all((what.ports ?? []).map(becomesFree)); // or another server there would answer as if it were ours
  const record = { pid: spawnServer(what), marker };
  recordProcess(dir, name, record);
  const end = async (how: Promise<void>) => {
    await how;
    forgetProcess(dir, name);
  };
  try {
    await waitUntil(
      () => isReady(record.pid),
      () => isRunning(record),
    );
  } catch (cause) {
    await end(killProcess(record));
    throw new Error(`${name} did not start: ${(cause as Error).message}\n${lastLines(logPath(dir, name))}`, { cause });
  }
  return {
    pid: record.pid,
    stop: () => end(endProcess(record, stopSignal)),
    kill: () => end(killProcess(record)),
    pause: () => pauseProcess(record),
    resume: () => signalProcess(record, "SIGCONT"),
  };
};

/** Whether an address answers a GET with 2xx. */
export const answersHttp = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok;
  } catch {
    return false; // refused, reset or late: not ready
  }
};

/** What was killed lets go of its port a moment after its end, when the last of its threads is gone. */
const becomesFree = async (port: number): Promise<void> => {
  const deadline = Date.now() + freeTimeoutMs;
  while (!(await isFree(port))) {
    if (Date.now() > deadline) throw new Error(`port ${port} is taken: stop what listens there, or set PORT_BASE`);
    await sleep(pollMs);
  }
};

const logPath = (dir: string, name: string): string => join(dir, "logs", `${name}.log`);

const spawnServer = ({ name, dir, command, detached, env = {} }: Launch): number => {
  mkdirSync(join(dir, "logs"), { recursive: true });
  const log = openSync(logPath(dir, name), "a");
  const tied = ["setpriv", "--pdeathsig", "KILL", "--"]; // the kernel ends it when we are gone
  const [program = "", ...args] = detached ? command : [...tied, ...command];
  const child = spawn(program, args, {
    detached: true,
    stdio: ["ignore", log, log],
    cwd: dir,
    env: { ...process.env, ...env },
  });
  closeSync(log);
  child.unref();
  child.on("error", () => undefined); // no such program: there is no pid, said below
  if (child.pid === undefined) throw new Error(`${name}: cannot run ${program}; run "make install"`);
  return child.pid;
};

const waitUntil = async (isReady: () => Promise<boolean>, isAlive: () => boolean): Promise<void> => {
  const deadline = Date.now() + readyTimeoutMs;
  while (!(await isReady())) {
    if (!isAlive()) throw new Error("it ended");
    if (Date.now() > deadline) throw new Error(`not ready after ${readyTimeoutMs / 1000} s`);
    await sleep(pollMs);
  }
};

const lastLines = (file: string): string => readFileSync(file, "utf8").split("\n").slice(-12).join("\n");
