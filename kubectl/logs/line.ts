import { styleText } from "node:util";

/** A line of a pod's log. What is no line of Herald's own, such as Node's last words, has the level `error`. */
export type Line = { pod: string; atMs: number; level: string; members: Record<string, unknown>; text: string };

export const levels = ["trace", "debug", "info", "warn", "error", "fatal"];

/** `lastMs`: of the line before, which one without a time is taken to belong to. */
export const lineOf = (pod: string, text: string, lastMs: number): Line => {
  const members = membersIn(text);
  if (members === null) return { pod, atMs: lastMs, level: "error", members: { event: text }, text };
  const { time, level } = members;
  const atMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return {
    pod,
    atMs: Number.isNaN(atMs) ? lastMs : atMs,
    level: typeof level === "string" ? level : "info",
    members,
    text,
  };
};

const membersIn = (text: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
};

/** Which lines are wanted. */
export type Wanted = { id: string | null; level: string | null };

export const isWanted = ({ text, level }: Line, wanted: Wanted): boolean =>
  (wanted.level === null || levels.indexOf(level) >= levels.indexOf(wanted.level)) &&
  (wanted.id === null || text.includes(wanted.id));

const shownElsewhere = new Set(["time", "level", "program", "pid", "event"]);

/** A line for people: time, level, pod, event and the other members as `name=value`. */
export const shown = ({ pod, atMs, level, members }: Line, hasColours: boolean): string => {
  const at = atMs > 0 ? new Date(atMs).toISOString() : "";
  const rest = Object.entries(members)
    .filter(([name, value]) => !shownElsewhere.has(name) && value !== undefined)
    .map(
      ([name, value]) => `${name}=${typeof value === "string" && !/\s/.test(value) ? value : JSON.stringify(value)}`,
    );
  const { event } = members;
  const text = [at, level.padEnd(5), pod, typeof event === "string" ? event : "", ...rest].join(" ");
  if (!hasColours || levels.indexOf(level) < levels.indexOf("warn")) return text;
  return styleText(level === "warn" ? "yellow" : "red", text, { validateStream: false });
};

/** As it was written, with the pod. */
export const asJson = ({ pod, members }: Line): string => JSON.stringify({ pod, ...members });
