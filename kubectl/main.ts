import { readWhole } from "./kit/input.ts";
import { run } from "./run.ts";

const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());
process.once("SIGTERM", () => interrupt.abort());
process.stdout.on("error", () => process.exit(0)); // whoever read it has enough, e.g. head

const { stdout, stderr, stdin, env } = process;
process.exitCode = await run(process.argv.slice(2), env, {
  out: (text) => void stdout.write(text),
  err: (text) => void stderr.write(text),
  stdin: () => readWhole(stdin, "stdin"),
  terminal: stdout.isTTY ? { columns: stdout.columns, hasColours: stdout.hasColors() && !env["NO_COLOR"] } : null,
  signal: interrupt.signal,
  now: () => new Date(),
});
