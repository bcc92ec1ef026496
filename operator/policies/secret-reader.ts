import { BadSecret } from "#core/channels/kit/secret-text.ts";
import { type Finding, refused } from "./conditions.ts";

/** The values of the Secrets that a resource names, by the Secret's name; null for a Secret that is not there. */
export type SecretValues = ReadonlyMap<string, Record<string, string> | null>;

export type Fault = { reason: "SecretNotFound" | "SecretKeyMissing" | "SecretInvalid"; message: string };

/** Reads one key of a Secret and parses it; a fault is noted and answered with `instead`, which is then never used. */
export type Read = <T>(ref: { name: string }, key: string, parse: (text: string) => T, instead: T) => T;

/** A reader that notes every fault in `faults`. */
export const reader =
  (secrets: SecretValues, faults: Fault[]): Read =>
  (ref, key, parse, instead) => {
    const note = (reason: Fault["reason"], message: string): typeof instead => {
      if (!faults.some((fault) => fault.message === message)) faults.push({ reason, message });
      return instead;
    };
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
  };

/** The finding about all faults; null when there are none. */
export const faultFinding = (faults: readonly Fault[]): Finding | null => {
  const [first] = faults;
  return first === undefined ? null : refused(first.reason, faults.map(({ message }) => message).join("; "));
};
