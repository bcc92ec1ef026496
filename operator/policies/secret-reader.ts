import type { ReadSecret } from "#core/channels/accounts.ts";
import { BadSecret } from "#core/channels/kit/secret-text.ts";
import { type Finding, refused } from "./conditions.ts";

/** The values of the Secrets that a resource names, by the Secret's name; null for a Secret that is not there. */
export type SecretValues = ReadonlyMap<string, Record<string, string> | null>;

type Reason = "SecretNotFound" | "SecretKeyMissing" | "SecretInvalid";

/** What is made of Secrets, or a finding that names every fault of theirs, and where. No message quotes a value. */
export const fromSecrets = <T>(secrets: SecretValues, make: (read: ReadSecret) => T): T | { finding: Finding } => {
  const faults = new Map<string, { reason: Reason; message: string; keys: Set<string> }>();
  const note = (reason: Reason, message: string, key: string): string => {
    const fault = faults.get(message) ?? { reason, message, keys: new Set() };
    fault.keys.add(key);
    faults.set(message, fault);
    return "";
  };
  const made = make((ref, key, parse, place) => {
    const values = secrets.get(ref.name) ?? null;
    if (values === null)
      return note("SecretNotFound", `${place}: Secret ${ref.name} does not exist; it has to have`, key);
    const text = values[key]?.trim() ?? "";
    if (text === "") return note("SecretKeyMissing", `${place}: Secret ${ref.name} has no value for`, key);
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof BadSecret)) throw error;
      return note("SecretInvalid", `${place}: Secret ${ref.name}, ${key}: ${error.message}`, "");
    }
  });
  const [first] = faults.values();
  return first === undefined ? made : { finding: refused(first.reason, [...faults.values()].map(textOf).join("; ")) };
};

const textOf = ({ message, keys }: { message: string; keys: Set<string> }): string =>
  `${message} ${[...keys].join(", ")}`.trimEnd();
