import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "../../test/support/suite/reporter.ts";
import type { Order } from "../../test/support/suite/worker.ts";
import { devDir, rootDir } from "../files/paths.ts";

/** A process that runs sets of test files, one after another. */
export type Worker = {
  /** Runs the files; a process that dies of them has failed, and another one takes its place. */
  run: (files: readonly string[]) => Promise<{ report: Report; output: string }>;
  end: () => Promise<void>;
};

/** Starts a process when it is first needed. What it prints is kept in `.dev/reports`. */
export const startWorker = (name: string, env: NodeJS.ProcessEnv): Worker => {
  mkdirSync(join(devDir, "reports"), { recursive: true });
  const outputPath = join(devDir, "reports", `${name}.log`);
  closeSync(openSync(outputPath, "w"));
  let child: ChildProcess | null = null;
  return {
    run: async (files) => {
      if (child === null || hasEnded(child)) child = begin(outputPath, env);
      const from = statSync(outputPath).size;
      const report = await answerOf(child, { files });
      const output = readFileSync(outputPath).subarray(from).toString();
      if (report !== null) return { report, output };
      const failures = [endingOf(child, output)];
      child = null;
      return { report: { passed: 0, failed: 1, failures, tests: [], loadCpuMs: 0, cpuMs: 0, startedCpuMs: 0 }, output };
    },
    end: async () => {
      if (child === null || hasEnded(child)) return;
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
};

/** Also between two sets of files: of what the last one had begun. */
const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

const begin = (outputPath: string, env: NodeJS.ProcessEnv): ChildProcess => {
  const output = openSync(outputPath, "a");
  const child = fork("test/support/suite/worker.ts", {
    cwd: rootDir,
    env: { ...process.env, NODE_COMPILE_CACHE: join(devDir, "compile-cache"), ...env },
    stdio: ["ignore", output, output, "ipc"],
  });
  closeSync(output);
  return child;
};

/** With the last lines that it printed: they say why, and stand at the end of a run, where it is looked. */
const endingOf = ({ exitCode, signalCode }: ChildProcess, output: string): string => {
  const how = signalCode === null ? `with code ${exitCode}` : `by ${signalCode}`;
  return [`the process ended ${how}`, ...output.trimEnd().split("\n").slice(-20)].join("\n    ");
};

/** Null when the process ends instead. */
const answerOf = (child: ChildProcess, order: Order): Promise<Report | null> =>
  new Promise((done) => {
    const end = () => done(null);
    child.once("exit", end);
    child.once("message", (report: Report) => {
      child.off("exit", end);
      done(report);
    });
    child.send(order);
  });
