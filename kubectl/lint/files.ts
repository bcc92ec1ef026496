import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../kit/errors.ts";
import type { Source } from "./manifest.ts";

const mostFiles = 10_000;
const mostBytes = 16 * 1024 * 1024; // of one file

/** Reads files and folders with all below them, `-` for what comes by stdin. @throws UsageError for what cannot be read */
export const readSources = async (names: readonly string[], stdin: () => Promise<string>): Promise<Source[]> => {
  const sources: Source[] = [];
  for (const name of names) {
    if (name === "-") sources.push({ file: "-", text: await stdin() });
    else for (const file of await filesOf(name)) sources.push({ file, text: await readText(file) });
  }
  return sources;
};

const filesOf = async (name: string): Promise<string[]> => {
  const found = await stat(name).catch(unreadable(name));
  if (!found.isDirectory()) return [name];
  const entries = await readdir(name, { recursive: true, withFileTypes: true }).catch(unreadable(name));
  const files = entries.filter(
    (entry) => entry.isFile() && isManifest(entry.name) && !isHidden(entry.parentPath, name),
  );
  if (files.length > mostFiles) throw new UsageError(`${name} has more than ${mostFiles} files`);
  return files.map(({ parentPath, name: file }) => join(parentPath, file)).sort();
};

const isManifest = (name: string): boolean => /\.(ya?ml|json)$/.test(name) && !name.startsWith(".");

/** Below `.git`, `.github` and the like, or among the packages of a program. */
const isHidden = (folder: string, root: string): boolean =>
  folder
    .slice(root.length)
    .split("/")
    .some((part) => (part.startsWith(".") && part.length > 1) || part === "node_modules");

const readText = async (file: string): Promise<string> => {
  const { size } = await stat(file).catch(unreadable(file));
  if (size > mostBytes) throw new UsageError(`${file} has more than ${mostBytes} bytes`);
  return await readFile(file, "utf8").catch(unreadable(file));
};

const unreadable =
  (name: string) =>
  (error: unknown): never => {
    throw new UsageError(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  };
