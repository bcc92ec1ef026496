import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { command } from "../processes/run-command.ts";
import { membersOf } from "./kinds-document.ts";
import type { OpenApi } from "./openapi.ts";
import type { promises } from "./promises.ts";

export type Promises = ReturnType<typeof promises>;

/**
 * What was promised and is no longer kept, a line each: what oasdiff takes for breaking, warnings too, as the service
 * refuses members that it does not know; and each new rule of a member that was there, as it may refuse what was taken.
 */
export const breaches = async (oasdiff: string, promised: Promises, kept: Promises): Promise<string[]> => {
  const names = Object.keys(promised) as (keyof Promises)[]; // sound: they are its keys
  const found = await Promise.all(names.map((name) => broken(oasdiff, promised[name], kept[name])));
  return [...found.flat(), ...newRules(promised.kinds, kept.kinds)];
};

const newRules = (promised: OpenApi, kept: OpenApi): string[] => {
  const known = new Map(membersOf(promised).map(({ place, rules }) => [place, rules]));
  return membersOf(kept).flatMap(({ place, rules }) => {
    const old = known.get(place);
    const added = old === undefined ? [] : rules.filter((rule) => !old.includes(rule));
    return added.map((rule) => `PUT ${place}: new rule: ${rule}`);
  });
};

/** What oasdiff prints of a change. */
type Change = { operation: string; path: string; text: string };

const broken = async (oasdiff: string, promised: OpenApi, kept: OpenApi): Promise<string[]> => {
  if (isDeepStrictEqual(promised, kept)) return [];
  const dir = await mkdtemp(join(tmpdir(), "herald-compatibility-"));
  try {
    const files = [join(dir, "promised.json"), join(dir, "kept.json")] as const;
    await Promise.all([writeFile(files[0], JSON.stringify(promised)), writeFile(files[1], JSON.stringify(kept))]);
    const printed = await command([oasdiff, "breaking", ...files, "--format", "json"]);
    return (JSON.parse(printed) as Change[]).map(({ operation, path, text }) => `${operation} ${path}: ${text}`);
  } finally {
    await rm(dir, { recursive: true });
  }
};
