import { parseArgs } from "node:util";

const help = `Herald's operator: makes custom resources true in MongoDB and JetStream.

  node operator.js             runs until it is stopped; one of several leads
  node operator.js --once      reconciles every resource once and prints those that are not ready
  node operator.js --keys      prints what each key of the key ring still seals, as it was last counted

      --timeout SECONDS             of --once and --keys: how long it may take, 1 to 3600 (300)
      --help                        this text

--once ends with 0 when every resource is ready; with 2 when some are not, and only a change of theirs can help;
with 1, as --keys does, when it could not be done: it could not start, another operator leads, or time ran out.
Settings are environment variables: docs/settings.md.`;

export type Options = { isOnce: boolean; isKeys: boolean; timeoutMs: number };

/** What the command line asks for. `--help`, and any unknown option, ends the process. */
export const optionsIn = (args: string[]): Options => {
  try {
    const { values } = parseArgs({ args, options });
    if (values.help) return endAs(0, help);
    const seconds = /^\d{1,4}$/.test(values.timeout) ? Number(values.timeout) : 0;
    if (seconds < 1 || seconds > 3600) throw new Error("--timeout takes whole seconds from 1 to 3600");
    if (values.once && values.keys) throw new Error("--once and --keys exclude each other");
    return { isOnce: values.once, isKeys: values.keys, timeoutMs: seconds * 1000 };
  } catch (error) {
    return endAs(1, `${error instanceof Error ? error.message : String(error)}\n\n${help}`);
  }
};

const options = {
  once: { type: "boolean", default: false },
  keys: { type: "boolean", default: false },
  timeout: { type: "string", default: "300" },
  help: { type: "boolean", default: false },
} as const;

/** Ends the process with a code, and a text on stdout or, of an error, stderr. */
export const endAs = (code: number, text: string): never => {
  (code === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  process.exit(code);
};
