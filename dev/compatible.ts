import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { breaches } from "./compatibility/breaches.ts";
import { promises } from "./compatibility/promises.ts";
import { keepRelease, lastRelease } from "./compatibility/release.ts";
import { bin, binDir, rootDir } from "./files/paths.ts";
import { areBuilt, build, oasdiff } from "./install/go-tools.ts";
import { withLock } from "./processes/lock.ts";

// Part of `make check`: fails when the REST interface, an event or a kind no longer keeps what the last release promised.
// `--release` makes the version of package.json the last release; `--folder` names where releases are kept.
const { values } = parseArgs({ options: { release: { type: "boolean" }, folder: { type: "string" } } });
const folder = values.folder ?? join(rootDir, "docs/released");

const check = async (): Promise<number> => {
  if (!areBuilt(oasdiff)) await withLock(join(binDir, "install.lock"), () => build(oasdiff));
  const { version, promised, allowed } = await lastRelease(folder);
  const found = await breaches(bin("oasdiff"), promised, promises());
  const broken = found.filter((line) => !allowed.includes(line));
  const idle = allowed.filter((line) => !found.includes(line));
  for (const line of broken) console.log(`breaks what ${version} promised: ${line}`);
  for (const line of idle) console.log(`allowed.txt allows what does not happen: ${line}`);
  return broken.length + idle.length === 0 ? 0 : 1;
};

const release = async (): Promise<number> => {
  const { version } = JSON.parse(readFileSync(join(rootDir, "package.json"), "utf8")) as { version: string };
  await keepRelease(folder, version, promises());
  console.log(`${folder} holds what ${version} promises`);
  return 0;
};

process.exitCode = await (values.release ? release() : check());
