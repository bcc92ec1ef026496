import { setTimeout as sleep } from "node:timers/promises";
import type { SegmentPreview } from "#core/schema/segments/segment.ts";
import { text } from "../kit/arguments.ts";
import type { Run, Terminal } from "../kit/command.ts";
import { UsageError } from "../kit/errors.ts";
import { readObject } from "../kit/input.ts";
import { durationMs, printed } from "../kit/output.ts";
import { table } from "../kit/table.ts";
import { openRest } from "../rest/rest.ts";

const lookEveryMs = 7_000; // the REST interface takes ten of these a minute

/** Prints whom a filter means, once all have been counted. */
export const runPreview: Run = async (given, tools) => {
  const file = text(given, "filename");
  if (file === undefined) throw new UsageError("-f names the filter's file; - reads stdin");
  const waitMs = durationMs(text(given, "timeout") ?? "2m");
  if (waitMs === null) throw new UsageError("--timeout takes a number and a unit, e.g. 90s, 5m or 1h");
  const filter = await readObject(file, tools.stdin);
  const rest = await openRest(given, tools, "admin");
  const ask = (): Promise<SegmentPreview> => rest.post<SegmentPreview>(`${rest.ofApp}/segments/preview`, { filter });
  const endsMs = performance.now() + waitMs;
  let found = await ask();
  while (!found.is_exact && performance.now() < endsMs) {
    await sleep(Math.min(lookEveryMs, Math.max(0, endsMs - performance.now())), undefined, { signal: tools.signal });
    found = await ask();
  }
  const format = text(given, "output");
  if (format === "json" || format === "yaml") tools.out(printed(found, format));
  else tools.out(told(found, tools.terminal));
  return found.is_exact ? 0 : 1;
};

const told = (found: SegmentPreview, terminal: Terminal): string => {
  const { users, recipients, is_exact: isExact, conditions, warnings, by_channel: byChannel } = found;
  const channels = Object.entries(byChannel ?? {}).map(([channel, count]) => `${channel} ${count}`);
  return [
    isExact
      ? `${users} users, ${recipients} subscribed subscriptions${channels.length === 0 ? "" : ` (${channels.join(", ")})`}`
      : "It is still being counted.",
    ...warnings.map((warning) => `Warning: ${warning}`),
    "",
    table(
      ["CONDITION", "PASS"],
      conditions.map(({ path, passed }) => [path, passed === null ? "" : String(passed)]),
      terminal,
    ),
  ].join("\n");
};
