import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rootDir } from "../files/paths.ts";
import { attempt } from "../processes/run-command.ts";
import { buildClient } from "./build.ts";

const timeoutMs = 120_000;
const env = { PATH: `${join(rootDir, "node_modules/.bin")}:${process.env["PATH"]}` };

/** Makes the npm package of the client for browsers in an empty folder, types included. Gives the path of the archive. */
export const packClient = async (folder: string): Promise<string> => {
  const dist = join(folder, "dist");
  await mkdir(dist, { recursive: true });
  await cp(join(rootDir, "sdk/web/package.json"), join(folder, "package.json"));
  await Promise.all(buildClient().map(({ name, text }) => writeFile(join(dist, name), text)));
  const types = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", join(dist, "types")];
  const root = ["--rootDir", join(rootDir, "sdk/web/src")];
  for (const project of ["sdk/web", "sdk/web/src/worker"])
    await run(["tsc", "-p", join(rootDir, project), ...types, ...root], folder);
  const packed = await run(["npm", "pack", "--json"], folder);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]; // npm packs one
  return join(folder, filename);
};

const run = async (command: string[], cwd: string): Promise<string> => {
  const { code, stdout, stderr } = await attempt(command, { env, timeoutMs, cwd });
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
};
