import { BadSecret } from "#core/channels/kit/secret-text.ts";
import { type Finding, refused } from "./conditions.ts";

/** The values of the Secrets that a resource names, by the Secret's name; null for a Secret that is not there. */
export type SecretValues = ReadonlyMap<string, Record<string, string> | null>;

/** Reads one key of a Secret and parses it. After a fault what it gives is never used. */
type Read = (ref: { name: string }, key: string, parse: (text: string) => string) => string;

type Fault = "SecretNotFound" | "SecretKeyMissing" | "SecretInvalid";

/** What is made of Secrets, or a finding that names every fault of theirs. No message quotes a value. */
export const fromSecrets = <T>(secrets: SecretValues, make: (read: Read) => T): T | { finding: Finding } => {
  const faults = new Map<string, Fault>(); // by their message
  const note = (reason: Fault, message: string): string => {
    if (!faults.has(message)) faults.set(message, reason);
    return "";
  };
  const made = make((ref, key, parse) => {
    const values = secrets.get(ref.name) ?? null;
    if (values === null) return note("SecretNotFound", `Secret ${ref.name} does not exist`);
    const text = values[key]?.trim() ?? "";
    if (text === "") return note("SecretKeyMissing", `Secret ${ref.name} has no value for ${key}`);
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof BadSecret)) throw error;
      return note("SecretInvalid", `Secret ${ref.name}, ${key}: ${error.message}`);
    }
  });
  const [first] = faults.values();
  return first === undefined ? made : { finding: refused(first, [...faults.keys()].join("; ")) };
};
