import { stringify } from "yaml";

/** What `-o json` and `-o yaml` print: the same members. */
export const printed = (value: unknown, format: "json" | "yaml"): string =>
  format === "json" ? `${JSON.stringify(value, null, 2)}\n` : stringify(value);

/** A duration as people write it, e.g. `90s`, `5m`, `1h`, in ms; null when it is none. */
export const durationMs = (text: string): number | null => {
  const [, count, unit] = /^(\d{1,6})(s|m|h)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return null;
  return Number(count) * (unitMs[unit] ?? 0);
};

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** How long ago something was, as kubectl says it: `45s`, `12m`, `3h`, `5d`. */
export const age = (at: string | undefined, now: Date): string => {
  if (at === undefined) return "";
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(at)) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
};
