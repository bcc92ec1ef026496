import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { copyFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bin, binDir, rootDir } from "../files/paths.ts";
import { command } from "./progress.ts";

/**
 * A program of a registry, with what it needs in a folder of its own: the files of dev/tools/<name> pin all of it. The
 * commands are run in that folder; `program` is the path below it.
 */
export type PackagedTool = { name: string; pins: readonly string[]; commands: readonly string[][]; program: string };

/** Needs a TypeScript that is older than ours. */
export const openapiTypescript: PackagedTool = {
  name: "openapi-client",
  pins: ["package.json", "package-lock.json"],
  commands: [["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]],
  program: "node_modules/.bin/openapi-typescript",
};

export const schemathesis: PackagedTool = {
  name: "schemathesis",
  pins: ["requirements.txt"],
  commands: [
    ["python3", "-m", "venv", "venv"],
    ["venv/bin/pip", "install", "--quiet", "--require-hashes", "--no-deps", "--requirement", "requirements.txt"],
  ],
  program: "venv/bin/schemathesis",
};

/** Reads the SQL of warehouses. */
export const sqlglot: PackagedTool = {
  ...schemathesis,
  name: "sqlglot",
  commands: [...schemathesis.commands, ["ln", "-s", "python3", "venv/bin/sqlglot-python"]], // a module has no program
  program: "venv/bin/sqlglot-python",
};

/** A server of Azure's Blob Storage. */
export const azurite: PackagedTool = {
  name: "azurite",
  pins: ["package.json", "package-lock.json"],
  commands: [["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]],
  program: "node_modules/.bin/azurite-blob",
};

/** Where a tool and what came with it lie: its own path, as programs of Python keep it, not that of a checkout's link. */
export const folderOf = ({ name }: PackagedTool): string => {
  mkdirSync(binDir, { recursive: true });
  return join(realpathSync(binDir), `.${name}`);
};

/** Whether it is there, as it is pinned today. */
export const isPackaged = (tool: PackagedTool): boolean => {
  const file = keyPath(tool);
  return existsSync(file) && readFileSync(file, "utf8") === key(tool);
};

/** Installs it, and links it into .dev/bin. The key is written last: what was cut short is made again. */
export const installPackaged = async (tool: PackagedTool): Promise<void> => {
  const folder = folderOf(tool);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const pin of tool.pins) await copyFile(pinPath(tool, pin), join(folder, pin));
  for (const words of tool.commands) await command(words, { log: `install-${tool.name}`, cwd: folder });
  const link = bin(tool.program.split("/").at(-1) ?? tool.name);
  await rm(link, { force: true });
  await symlink(join(folder, tool.program), link);
  await writeFile(keyPath(tool), key(tool));
};

const keyPath = (tool: PackagedTool): string => join(folderOf(tool), ".key");

const pinPath = ({ name }: PackagedTool, pin: string): string => join(rootDir, "dev/tools", name, pin);

const key = (tool: PackagedTool): string => {
  const hash = createHash("sha256").update(JSON.stringify(tool));
  for (const pin of tool.pins) hash.update(readFileSync(pinPath(tool, pin)));
  return hash.digest("hex");
};
