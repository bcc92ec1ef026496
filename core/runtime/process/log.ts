import pino from "pino";
import { AppError } from "../../errors.ts";
import { maskPasswords } from "./config.ts";

export type Log = pino.Logger;

/**
 * Makes a program's log: one JSON line a unit of work on stdout, with ISO time, level name, `program` and `pid`.
 * The message is a constant event name (`delivery.attempted`). Members named as secrets are written as `[redacted]`.
 */
export const createLog = ({ program, level, destination }: LogOptions): Log => {
  const options: pino.LoggerOptions = {
    level,
    base: { program, pid: process.pid },
    messageKey: "event",
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: redacted },
    serializers: { err: describeError },
  };
  return redactChildren(pino(options, destination ?? (stdout ??= batched(pino.destination({ dest: 1, sync: true })))));
};

export type LogOptions = { program: string; level: string; destination?: pino.DestinationStream };

let stdout: pino.DestinationStream | undefined; // of all logs of this process: their lines stay in order

const lingerMs = 50; // so much of what was done a kill may leave out of the log
const mostCharacters = 16_384;
const infoLevel = 30; // pino's number for it

/**
 * Lines of a few ms share a write, which costs more than all else of a line. Warnings and errors are written at once, with
 * what came before them, and so is everything when the process exits.
 */
const batched = (destination: pino.DestinationStream): pino.DestinationStream => {
  let lines = "";
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const text = lines;
    lines = "";
    if (text !== "") destination.write(text);
  };
  process.on("exit", flush);
  const stream = {
    [pino.symbols.needsMetadataGsym]: true, // has pino keep lastLevel up to date
    lastLevel: 0,
    write: (line: string): void => {
      lines += line;
      if (stream.lastLevel > infoLevel || lines.length > mostCharacters) flush();
      else timer ??= setTimeout(flush, lingerMs);
    },
  };
  return stream;
};

/** pino hands a child's bindings to no formatter, so they are redacted on their way in; children of children too. */
const redactChildren = (log: Log): Log => {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this` below
  const makeChild = log.child;
  log.child = function child(this: Log, bindings: pino.Bindings) {
    return makeChild.call(this, redacted(bindings));
  } as Log["child"]; // sound: custom levels, the type's only other part, are not used
  return log;
};

const secretName = /(secret|token|password|passphrase|privatekey|authorization|apikey|cookie|keyring)$/;
const maxDepth = 6; // deeper members are left out: no line of ours nests so far
const maxItems = 100;

const redacted = (fields: Record<string, unknown>): Record<string, unknown> => {
  const safe: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) safe[name] = isSecret(name) ? hidden(value) : scrub(value, 1);
  return safe;
};

const judged = new Map<string, boolean>(); // names of members are few, but for those that others choose
const mostJudged = 1_000;

const isSecret = (name: string): boolean => {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const found = secretName.test(name.toLowerCase().replaceAll(/[_-]/g, ""));
  if (judged.size < mostJudged) judged.set(name, found);
  return found;
};

/** Whether a secret is there may be said: `describeConfig` writes these two words. */
const hidden = (value: unknown): string => (value === "set" || value === "unset" ? value : "[redacted]");

/** Copies plain objects and lists without their secrets; everything else is a leaf, to be written by its serializer. */
const scrub = (value: unknown, depth: number): unknown => {
  if (Array.isArray(value))
    return depth > maxDepth ? "[deep]" : value.slice(0, maxItems).map((v) => scrub(v, depth + 1));
  if (!isPlain(value)) return typeof value === "string" ? maskPasswords(value) : value;
  if (depth > maxDepth) return "[deep]";
  const entries = Object.entries(value).slice(0, maxItems);
  return Object.fromEntries(entries.map(([k, v]) => [k, isSecret(k) ? hidden(v) : scrub(v, depth + 1)]));
};

const isPlain = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const maxCauses = 4;

/** Name, code, message and stack of an error and its causes; never its other members (drivers keep commands in them). */
const describeError = (error: unknown, causes = maxCauses): unknown => {
  if (!(error instanceof Error)) return { message: maskPasswords(String(error)) };
  return {
    name: error.name,
    ...("code" in error && { code: error.code }),
    message: maskPasswords(error.message),
    ...(error instanceof AppError && { details: scrub(error.details, 1) }),
    stack: maskPasswords(error.stack ?? ""),
    ...(error.cause !== undefined && causes > 0 && { cause: describeError(error.cause, causes - 1) }),
  };
};
