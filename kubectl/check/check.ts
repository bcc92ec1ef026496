import { setTimeout as sleep } from "node:timers/promises";
import { isSet, text } from "../kit/arguments.ts";
import type { Given, Run, Terminal } from "../kit/command.ts";
import { printed } from "../kit/output.ts";
import { table } from "../kit/table.ts";
import { waitOf } from "../kit/waiting.ts";
import { type Checked, type Checker, checkers } from "./checkers.ts";

const lookEveryMs = 2_000;

/** Makes every check; with --wait again until each passes. */
export const runCheck: Run = async (given, tools) => {
  const cluster = tools.cluster();
  const waitMs = waitOf(given);
  const namespace = isSet(given, "all-namespaces") ? null : (text(given, "namespace") ?? null);
  const endsMs = performance.now() + (waitMs ?? 0);
  for (;;) {
    const results = await Promise.all(
      checkers.map((one) => made(one, { cluster, namespace, signal: tools.signal, now: tools.now })),
    );
    const isWell = results.every(({ verdict }) => verdict !== "fail");
    if (isWell || waitMs === null || performance.now() >= endsMs) {
      tools.out(shown(results, given, tools.terminal));
      return isWell ? 0 : 1;
    }
    await sleep(lookEveryMs, undefined, { signal: tools.signal });
  }
};

type Result = Checked & { check: string };

/** A check that could not be made is a failure: the cluster did not answer. */
const made = async ({ check, make }: Checker, at: Parameters<Checker["make"]>[0]): Promise<Result> => {
  try {
    return { check, ...(await make(at)) };
  } catch (error) {
    at.signal.throwIfAborted();
    return { check, verdict: "fail", message: error instanceof Error ? error.message : String(error) };
  }
};

const colours = { pass: "green", fail: "red", unknown: "yellow" } as const;

const shown = (results: readonly Result[], given: Given, terminal: Terminal): string => {
  const format = text(given, "output");
  if (format === "json" || format === "yaml") return printed({ checks: results }, format);
  const rows = results.map(({ check, verdict, message }) => [
    check,
    { text: verdict, colour: colours[verdict] },
    message,
  ]);
  return table(["CHECK", "VERDICT", "MORE"], rows, terminal);
};
