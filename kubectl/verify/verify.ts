import { setTimeout as sleep } from "node:timers/promises";
import type { Channels } from "#core/schema/analytics/deliveries.ts";
import { type Metric, metrics } from "#core/schema/analytics/metrics.ts";
import type { Recount } from "#core/schema/analytics/recount.ts";
import { text } from "../kit/arguments.ts";
import type { Given, Run, Terminal } from "../kit/command.ts";
import { Refused, UsageError } from "../kit/errors.ts";
import { durationMs, printed } from "../kit/output.ts";
import { table } from "../kit/table.ts";
import { openRest, type Rest } from "../rest/rest.ts";

const [quarterMs, dayMs] = [900_000, 86_400_000];
const lookEveryMs = 3_000;

/** A number that is another one now. */
type Changed = { channel: string; metric: Metric; before: number; now: number };
type Verified = { from: string; to: string; quarters: number; changed: Changed[] };

/** Has deliveries counted again, and prints what that changed. */
export const runVerifyCounts: Run = async (given, tools) => {
  const range = rangeOf(given, Date.now());
  const waitMs = durationMs(text(given, "timeout") ?? "5m");
  if (waitMs === null) throw new UsageError("--timeout takes a number and a unit, e.g. 90s, 5m or 1h");
  const rest = await openRest(given, tools, "admin");
  const path = `${rest.ofApp}/analytics/channels?${new URLSearchParams(range).toString()}`;
  const before = await rest.get<Channels>(path);
  const { quarters, asked_at: askedAt } = await rest.post<Recount>(`${rest.ofApp}/analytics/recount`, range);
  const now = quarters === 0 ? before : await counted({ rest, path, askedAt, waitMs, signal: tools.signal });
  const verified = { ...range, quarters, changed: changesOf(before, now) };
  const format = text(given, "output");
  if (format === "json" || format === "yaml") tools.out(printed(verified, format));
  else tools.out(told(verified, tools.terminal));
  return verified.changed.length === 0 ? 0 : 1;
};

/** @throws UsageError for instants that are none, or not full quarters */
const rangeOf = (given: Given, nowMs: number): { from: string; to: string } => {
  const toMs = instantOf(text(given, "to"), "to") ?? Math.floor(nowMs / quarterMs) * quarterMs;
  const fromMs = instantOf(text(given, "from"), "from") ?? toMs - dayMs;
  if (fromMs >= toMs) throw new UsageError("--from must be before --to");
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
};

const instantOf = (value: string | undefined, name: string): number | null => {
  if (value === undefined) return null;
  const ms = Date.parse(value);
  if (Number.isNaN(ms) || ms % quarterMs !== 0)
    throw new UsageError(`--${name} takes a full quarter of an hour, e.g. 2026-11-02T00:15:00Z`);
  return ms;
};

type Asked = { rest: Rest; path: string; askedAt: string; waitMs: number; signal: AbortSignal };

/** What the analytics say once all that is stored by now is counted. @throws Refused when that takes too long */
const counted = async ({ rest, path, askedAt, waitMs, signal }: Asked): Promise<Channels> => {
  const endsMs = performance.now() + waitMs;
  for (;;) {
    await sleep(lookEveryMs, undefined, { signal });
    const found = await rest.get<Channels>(path);
    if (Date.parse(found.as_of) > Date.parse(askedAt)) return found;
    if (performance.now() >= endsMs)
      throw new Refused(`it is still being counted: as_of is ${found.as_of}. Try again with a longer --timeout`);
  }
};

const changesOf = (before: Channels, now: Channels): Changed[] =>
  now.data.flatMap(({ channel, totals }) => {
    const was = before.data.find((one) => one.channel === channel)?.totals;
    return metrics.flatMap((metric) =>
      totals[metric] === (was?.[metric] ?? 0)
        ? []
        : [{ channel, metric, before: was?.[metric] ?? 0, now: totals[metric] ?? 0 }],
    );
  });

const told = ({ from, to, quarters, changed }: Verified, terminal: Terminal): string => {
  const what = `Counted ${quarters} quarters of an hour with deliveries again, from ${from} to ${to}`;
  if (changed.length === 0) return `${what}: no number changed.\n`;
  const rows = changed.map(({ channel, metric, before, now }) => [channel, metric, String(before), String(now)]);
  return `${what}.\n\n${table(["CHANNEL", "METRIC", "BEFORE", "NOW"], rows, terminal)}\nRun it again: what a receipt changed meanwhile is no fault.\n`;
};
