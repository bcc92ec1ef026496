import { type FieldError, Unavailable, ValidationError } from "../../errors.ts";
import type { Part } from "../process/lifecycle.ts";
import { threadQueue } from "../threads/thread-queue.ts";
import { mjmlLimits } from "./limits.ts";
import type { Compiled, MjmlJob } from "./worker.ts";

export type MjmlCompiler = Part & {
  /**
   * The HTML of an app's `email_mjml`. Apps take turns.
   * @throws ValidationError naming lines, or Unavailable when it cannot be compiled now
   */
  compile: (app: string, mjml: string) => Promise<string>;
};

/** Compiles MJML in a thread of its own, bounded in time, memory and jobs that wait. Source: docs/reference/email.md#mjml. */
export const mjmlCompiler = (limitMs: number = mjmlLimits.compileMs): MjmlCompiler => {
  const queue = threadQueue<MjmlJob, Compiled | null>({
    file: new URL("worker.ts", import.meta.url),
    batchOf: (jobs) => jobs,
    keyOf: ({ app }) => app,
    startMs: 25_000, // the library takes a second to load, on a busy machine many
    memoryMegabytes: 256, // 60 are the library's own; the largest template takes 150
    hasSpare: false,
    limitMs,
    slackMs: 0,
    most: 1,
    mostWaiting: 200, // a usual template takes 20 to 50 ms
    mostOfKey: 10, // one app leaves room for others
    slowOnes: { has: () => false, add: () => undefined },
    unavailable: null,
  });
  return {
    name: "mjml",
    start: async () => undefined,
    stop: queue.stop,
    compile: async (app, mjml) => {
      const compiled = await queue.run({ app, mjml });
      if (compiled === null) throw new Unavailable("compiling of MJML");
      if (compiled !== "overtime" && "html" in compiled) return compiled.html;
      const tooSlow = `takes longer than ${limitMs} ms`;
      const [first = tooSlow, ...rest] = compiled === "overtime" ? [] : compiled.errors;
      throw new ValidationError([fault(first), ...rest.map(fault)]);
    },
  };
};

const fault = (message: string): FieldError => ({ field: "email_mjml", message });
