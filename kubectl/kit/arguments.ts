import { parseArgs } from "node:util";
import { type Command, commonOptions, type Given, type Option } from "./command.ts";
import { UsageError } from "./errors.ts";

/** Reads what follows a command's name. @throws UsageError for what the command does not take */
export const readArguments = (command: Command, args: readonly string[]): Given => {
  const options: Record<string, Option> = { ...command.options, ...commonOptions };
  const { values, positionals } = parsed(options, args);
  if (values["help"] === true) return { operands: [], options: values };
  for (const [name, { choices }] of Object.entries(options)) {
    const value = values[name];
    if (choices !== undefined && value !== undefined && !choices.includes(String(value)))
      throw new UsageError(`--${name} takes ${choices.join(", ")}; ${JSON.stringify(value)} is none of them`);
  }
  if (positionals.length > command.mostOperands) {
    const takes = command.mostOperands === 0 ? "nothing" : command.operands;
    throw new UsageError(`${command.name} takes ${takes}; ${JSON.stringify(positionals.at(-1))} is too much`);
  }
  if (values["namespace"] !== undefined && values["all-namespaces"] === true)
    throw new UsageError("--namespace and --all-namespaces exclude each other");
  return { operands: positionals, options: values };
};

const parsed = (options: Record<string, Option>, args: readonly string[]) => {
  const known = Object.entries(options).map(([name, { type, short, isRepeated = false }]) => [
    name,
    { type, multiple: isRepeated, ...(short && { short }) },
  ]);
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: Object.fromEntries(known) as Record<string, { type: "string" | "boolean"; multiple: boolean }>, // sound: made of such
      allowPositionals: true,
    });
    return { values: values as Given["options"], positionals }; // sound: as their options say
  } catch (error) {
    throw new UsageError(error instanceof Error ? firstSentence(error.message) : String(error), { cause: error });
  }
};

/** Node adds what to do about an operand that begins with a dash. */
const firstSentence = (message: string): string => message.split(". ", 1)[0] ?? message;

/** An option's text; undefined when it was not given. */
export const text = ({ options }: Given, name: string): string | undefined => {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
};

export const isSet = ({ options }: Given, name: string): boolean => options[name] === true;

/** Every value of an option that may be given several times. */
export const texts = ({ options }: Given, name: string): readonly string[] => {
  const value = options[name];
  return Array.isArray(value) ? value : [];
};
