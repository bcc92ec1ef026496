import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootDir } from "../files/paths.ts";
import { answersHttp, launch } from "../processes/process.ts";
import { type ProgramName, startProgram } from "../processes/programs.ts";
import { endRecorded, isRunning, readRecord } from "../processes/records.ts";
import { type Addresses, certificateOf } from "./settings.ts";

/** A process of the demo. It outlives the demo; `make down` ends it. */
export type DemoProcess = {
  name: string;
  /** Files and folders of the repository that it runs, and other files that it reads. */
  source: readonly string[];
  env: Readonly<Record<string, string>>;
  readyUrl: string;
  start: () => Promise<unknown>;
};

/** Leaves alone what runs, is ready and has the same source and settings; ends and starts everything else. */
export const ensureRunning = async (dir: string, wanted: DemoProcess): Promise<"running" | "started"> => {
  const { name, readyUrl, start } = wanted;
  const print = fingerprint(wanted);
  const printFile = join(dir, "demo", `${name}.started`);
  const record = readRecord(dir, name);
  const isSame = record !== null && isRunning(record) && readText(printFile) === `${record.pid} ${print}`;
  if (isSame && (await answersHttp(readyUrl))) return "running";
  await endRecorded(dir, name);
  await start();
  mkdirSync(join(dir, "demo"), { recursive: true, mode: 0o700 });
  writeFileSync(printFile, `${readRecord(dir, name)?.pid} ${print}`);
  return "started";
};

/** The provider simulators, the receiver of webhooks and the shop. */
export const simulatorProcesses = (dir: string, portBase: number, at: Addresses): DemoProcess[] => {
  const simulatorArgs = [String(portBase), join(dir, "simulators")];
  return [
    nodeProcess({
      dir,
      name: "simulators",
      file: "dev/simulators/main.ts",
      args: simulatorArgs,
      url: at.control,
      path: "/counts",
    }),
    nodeProcess({
      dir,
      name: "receiver",
      file: "dev/simulators/receiver.ts",
      args: [new URL(at.receiver).port],
      url: at.receiver,
      path: "/received",
    }),
    nodeProcess({
      dir,
      name: "shop",
      file: "dev/simulators/shop.ts",
      args: [new URL(at.shop).port],
      url: at.shop,
      path: "/shop.js",
    }),
  ];
};

/** One of the three programs. */
export const programProcess = (
  dir: string,
  program: ProgramName,
  at: Addresses,
  env: Record<string, string>,
): DemoProcess => ({
  name: program,
  source: [program, "core", "config", "package-lock.json", certificateOf(dir)],
  env,
  readyUrl: `${at[program]}/readyz`,
  start: () => startProgram({ program, dir, healthPort: Number(new URL(at[program]).port), env, detached: true }),
});

type NodeProcess = { dir: string; name: string; file: string; args: string[]; url: string; path: string };

const nodeProcess = ({ dir, name, file, args, url, path }: NodeProcess): DemoProcess => ({
  name,
  source: ["dev/simulators", "dev/simulators/receiver.ts", "package-lock.json"],
  env: { args: args.join(" ") },
  readyUrl: url + path,
  start: () =>
    launch({
      name,
      dir,
      command: [join(rootDir, "node_modules/.bin/node"), join(rootDir, file), ...args],
      marker: file,
      ports: [Number(new URL(url).port)],
      detached: true,
      isReady: () => answersHttp(url + path),
    }),
});

const fingerprint = ({ source, env }: DemoProcess): string => {
  const hash = createHash("sha256").update(JSON.stringify(env));
  const files = source.flatMap((path) =>
    /\.\w+$/.test(path) ? [path] : globSync(`${path}/**/*.ts`, { cwd: rootDir }),
  );
  for (const file of files.toSorted())
    hash.update(file).update(readText(join(file.startsWith("/") ? "" : rootDir, file)));
  return hash.digest("hex");
};

const readText = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // not there: nothing was started yet
  }
};
