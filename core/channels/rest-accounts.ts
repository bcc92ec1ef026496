import type { TObject } from "typebox";
import { type FieldError, refuse } from "../errors.ts";
import type { PutChannelAccount } from "../schema/apps/account.ts";
import { parser } from "../schema/json/parser.ts";
import { type Channel, channels } from "../schema/vocabulary/channels.ts";
import type { ChannelAccounts } from "./accounts.ts";
import { definitionOf } from "./all.ts";
import { restMembers, storedRestMembers } from "./kit/account.ts";
import { BadSecret } from "./kit/secret-text.ts";

/**
 * The account that the REST interface is given for a channel, by the channel's own schema, its secrets open. Every secret
 * has to be given: who may only change where an account leads must not get its secrets sent there.
 * @throws ValidationError naming each fault, and quoting no secret
 */
export const accountOfRest = (
  channel: Channel,
  { provider, settings, secrets = {} }: PutChannelAccount,
): ChannelAccounts<string> => {
  const { account, providers } = definitionOf(channel);
  const [first] = providers;
  const chosen = provider ?? first;
  if (!providers.includes(chosen)) refuse([{ field: "provider", message: `must be one of: ${providers.join(", ")}` }]);
  const said = { ...withDefaults(account.members, parsers[channel](settings)), provider: chosen };
  const problems = account.problems?.(said) ?? [];
  refuse(problems.map(({ field, message }) => ({ field: `settings.${field}`, message })));
  const reading = readSecrets(secrets);
  const stored = storedRestMembers(account.members, said, reading.read);
  refuse(reading.problems());
  return { [channel]: stored };
};

/** The check of each channel's settings. */
const parsers = Object.fromEntries(
  channels.map((channel) => [channel, parser(restMembers(definitionOf(channel).account), { prefix: "settings" })]),
) as Record<Channel, (input: unknown) => unknown>; // sound: made of all channels

const withDefaults = ({ properties }: TObject, said: unknown): object => {
  const defaults = Object.entries(properties).map(([name, member]) => [name, Reflect.get(member, "default")] as const);
  const given = Object.entries(said as object).filter(([, value]) => value !== null); // sound: parsed as an object
  return { ...Object.fromEntries(defaults), ...Object.fromEntries(given) };
};

/** Reads secrets by their keys, and notes what is wrong with them. */
const readSecrets = (secrets: Readonly<Record<string, string>>) => {
  const found = new Map<string, string>();
  const known = new Set<string>();
  const note = (key: string, message: string): string => {
    found.set(key, message);
    return "";
  };
  return {
    read: (key: string, parse: (text: string) => string): string => {
      known.add(key);
      const text = Object.hasOwn(secrets, key) ? (secrets[key]?.trim() ?? "") : "";
      if (text === "") return note(key, "is required for these settings");
      try {
        return parse(text);
      } catch (error) {
        if (!(error instanceof BadSecret)) throw error;
        return note(key, error.message);
      }
    },
    problems: (): FieldError[] => {
      for (const key of Object.keys(secrets))
        if (!known.has(key)) note(key, "is no secret of an account with these settings");
      return [...found].map(([key, message]) => ({ field: `secrets.${key}`, message }));
    },
  };
};
