import { mkdir, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findTool } from "../../../dev/files/find-tool.ts";
import { rootDir } from "../../../dev/files/paths.ts";
import { command } from "../../../dev/processes/run-command.ts";
import { blocksOf } from "../../support/pages/blocks.ts";
import type { System } from "./system.ts";

const commandsMs = 900_000; // those of a section; each waits within bounds of its own
const tools = ["kubectl", "helm", "mongodump"] as const;

/** Each block of commands of a page's section. */
export const commandsOf = (page: string, section: string): string[] => {
  const blocks = blocksOf(page).filter((block) => block.section === section);
  if (blocks.length === 0) throw new Error(`docs/${page} has no commands in the section "${section}"`);
  return blocks.map(({ text }) => text);
};

/** Runs commands as a reader would, in a folder with the chart, and ends what they leave running. Gives what they print. */
export const run = async ({ env }: Pick<System, "env">, script: string): Promise<string> => {
  const cwd = join(env.dir, "reader");
  await mkdir(cwd, { recursive: true });
  await rm(join(cwd, "charts"), { force: true });
  await symlink(join(rootDir, "charts"), join(cwd, "charts"));
  const folders = tools.flatMap((name) => findTool(name) ?? []).map((path) => dirname(path));
  const PATH = [...folders, process.env["PATH"]].join(":");
  const ended = `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${script}`;
  return command(["bash", "-euo", "pipefail", "-c", ended], { cwd, env: { PATH }, timeoutMs: commandsMs });
};
