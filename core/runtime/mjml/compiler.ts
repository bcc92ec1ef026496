import { type FieldError, Unavailable, ValidationError } from "../../errors.ts";
import type { Part } from "../process/lifecycle.ts";
import { threadQueue } from "../threads/thread-queue.ts";
import { mjmlLimits } from "./limits.ts";
import type { Compiled, MjmlFault, MjmlJob } from "./worker.ts";

export type MjmlCompiler = Part & {
  /**
   * The HTML of an app's `email_mjml`. Apps take turns.
   * @throws ValidationError naming lines and columns, or Unavailable when it cannot be compiled now
   */
  compile: (app: string, mjml: string) => Promise<string>;
  /** The HTML of a template, its Liquid kept in place; what is wrong is data. @throws Unavailable */
  compileTemplate: (app: string, mjml: string) => Promise<Compiled>;
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
  const run = async (job: MjmlJob): Promise<Compiled> => {
    const compiled = await queue.run(job);
    if (compiled === null) throw new Unavailable("compiling of MJML");
    const tooSlow = { line: null, column: null, message: `takes longer than ${limitMs} ms` };
    return compiled === "overtime" ? { faults: [tooSlow] } : compiled;
  };
  return {
    name: "mjml",
    start: async () => undefined,
    stop: queue.stop,
    compileTemplate: (app, mjml) => run({ app, mjml, isTemplate: true }),
    compile: async (app, mjml) => {
      const compiled = await run({ app, mjml, isTemplate: false });
      if ("html" in compiled) return compiled.html;
      const [first, ...rest] = compiled.faults.map(fieldError);
      throw new ValidationError([first ?? { field: "email_mjml", message: "cannot be compiled" }, ...rest]);
    },
  };
};

const fieldError = (fault: MjmlFault): FieldError => ({ field: "email_mjml", message: said(fault) });

const said = ({ line, column, message }: MjmlFault): string =>
  line === null ? message : `line ${line}, column ${column}: ${message}`;
