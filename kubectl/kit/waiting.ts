import { isSet, text } from "./arguments.ts";
import type { Given, Option } from "./command.ts";
import { UsageError } from "./errors.ts";
import { durationMs } from "./output.ts";

/** The options of a command that may go on until all is well. */
export const waitOptions = (until: string) =>
  ({
    wait: { type: "boolean", description: `go on until ${until}` },
    timeout: {
      type: "string",
      value: "DURATION",
      description: "how long --wait waits at most, e.g. 90s; 5m when left out",
    },
  }) as const satisfies Record<string, Option>;

/** How long `--wait` waits at most, ms; null without it. @throws UsageError */
export const waitOf = (given: Given): number | null => {
  const timeout = text(given, "timeout");
  if (timeout !== undefined && !isSet(given, "wait")) throw new UsageError("--timeout goes with --wait");
  const waitMs = durationMs(timeout ?? "5m");
  if (waitMs === null) throw new UsageError("--timeout takes a number and a unit, e.g. 90s, 5m or 1h");
  return isSet(given, "wait") ? waitMs : null;
};
