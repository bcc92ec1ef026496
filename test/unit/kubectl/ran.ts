import { run } from "../../../kubectl/run.ts";

/** What a run of `kubectl herald` printed, and its exit code. */
export type Ran = { code: number; out: string; err: string };

/** Runs it in this process, as people without a terminal would. */
export const ran = async (
  args: readonly string[],
  { stdin = "", env = {} }: { stdin?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> => {
  const printed = { out: "", err: "" };
  const code = await run(args, env, {
    out: (text) => void (printed.out += text),
    err: (text) => void (printed.err += text),
    stdin: async () => stdin,
    terminal: null,
    signal: AbortSignal.timeout(60_000),
    now: () => new Date(),
  });
  return { code, ...printed };
};
