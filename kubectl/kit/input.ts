import { open } from "node:fs/promises";
import { parse } from "yaml";
import { readBounded } from "#core/runtime/http/read-bounded.ts";
import { UsageError } from "./errors.ts";

/** Of one file, and of stdin: more than any manifest has, and than the REST interface takes. */
export const mostInputBytes = 16 * 1024 * 1024;

/** Reads a stream whole. @throws UsageError when it has too much; `name` says of what */
export const readWhole = async (stream: AsyncIterable<Uint8Array>, name: string): Promise<string> => {
  try {
    return (await readBounded(stream, mostInputBytes)).toString("utf8");
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`${name} has more than ${mostInputBytes} bytes`);
    throw error;
  }
};

/** The object in a file of JSON or YAML; `-` reads stdin. @throws UsageError for anything else */
export const readObject = async (name: string, stdin: () => Promise<string>): Promise<Record<string, unknown>> => {
  const value = parsed(name === "-" ? await stdin() : await readFile(name), name);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`${name} has no object of JSON or YAML`);
  return value as Record<string, unknown>; // sound: checked just above
};

/** Read as it comes: a pipe has no size that could be asked for. */
const readFile = async (name: string): Promise<string> => {
  const file = await open(name).catch(unreadable(name));
  const stream = file.createReadStream(); // closes the file at its end, and when it is left
  return await readWhole(stream as AsyncIterable<Buffer>, name).catch(unreadable(name)); // sound: it has no encoding
};

const parsed = (text: string, name: string): unknown => {
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw new UsageError(`${name} is no JSON or YAML: ${messageOf(error)}`, { cause: error });
  }
};

const unreadable =
  (name: string) =>
  (error: unknown): never => {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${name} cannot be read: ${messageOf(error)}`, { cause: error });
  };

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
