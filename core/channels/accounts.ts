import type { Channel } from "../schema/vocabulary/channels.ts";
import { allDefinitions, type Definitions, definitions } from "./all.ts";
import { type AccountOf, mapSecrets, storedMembers } from "./kit/account.ts";

/** The provider that an account is of; one that does not say it is of the channel's first. */
export type ProviderOf<C extends Channel> = Definitions[C]["providers"][number];

/** The provider accounts of an app, by channel, with each secret as a `Secret`. */
export type ChannelAccounts<Secret> = { [C in Channel]?: AccountOf<Definitions[C]["account"], Secret> };

/** An account that can be used: its secrets are open. */
export type OpenAccount<C extends Channel> = AccountOf<Definitions[C]["account"], string> & {
  provider: ProviderOf<C>;
};

/** What an App resource says of its accounts, by the channel's member. */
export type AccountSpecs = Partial<Record<string, AccountSpec>>;
type AccountSpec = Record<string, unknown> & { secretRef?: { name: string } };

/** Gives the text of a Secret's key, parsed; `place` is the member of the resource that names the Secret. */
export type ReadSecret = (ref: { name: string }, key: string, parse: (text: string) => string, place: string) => string;

/** The accounts that a resource says. */
export const accountsOf = (said: AccountSpecs, read: ReadSecret): ChannelAccounts<string> =>
  each(({ resourceMember, account }) => {
    const one = said[resourceMember];
    const ref = one?.secretRef ?? { name: "" }; // a CEL rule asks for it wherever it is read
    return (
      one &&
      storedMembers(account.members, one, (key, parse) => read(ref, key, parse, `spec.channels.${resourceMember}`))
    );
  });

/** An account as it may be shown: nothing of its secrets. */
export type ShownAccount = { channel: Channel; provider: string; settings: Record<string, unknown> };

/** The accounts of an app, in the order of the channels. */
export const shownAccounts = (accounts: ChannelAccounts<unknown>): ShownAccount[] =>
  allDefinitions.flatMap(({ name: channel, providers: [first], account: { members } }) => {
    const { [channel]: stored } = accounts;
    if (stored === undefined) return [];
    const { provider, ...settings } = mapSecrets(members, stored, () => undefined); // JSON leaves out what is undefined
    return [{ channel, provider: typeof provider === "string" ? provider : first, settings }];
  });

/** The names of the Secrets that the accounts of a resource are read from, each once. */
export const secretNamesOf = ({ channels: said }: { channels: AccountSpecs }): string[] => {
  const names = allDefinitions.map(({ resourceMember }) => said[resourceMember]?.secretRef?.name);
  return [...new Set(names.filter((name) => name !== undefined))];
};

/** Replaces every secret of an app's accounts; `context` is the place in the data that it is sealed for. */
export const withSecrets = <A, B>(
  appId: string,
  accounts: ChannelAccounts<A>,
  replace: (secret: A, context: string) => B,
): ChannelAccounts<B> =>
  each(({ name, account }) => {
    const one = accounts[name];
    // sound: the members that are marked as secrets are all of them `A`
    return one && mapSecrets(account.members, one, (of, place) => replace(of as A, contextOf(appId, name, place)));
  });

const contextOf = (appId: string, channel: Channel, place: string): string => `apps/${appId}/${channel}.${place}`;

/** An app's account on a channel, its secrets opened; null when it has none. Throws what `open` throws. */
export const openAccount = <C extends Channel, Secret>(
  app: { _id: string; channels: ChannelAccounts<Secret> },
  channel: C,
  open: (sealed: Secret, context: string) => string,
): OpenAccount<C> | null => {
  const { [channel]: stored } = app.channels;
  const { [channel]: account } = withSecrets<Secret, string>(app._id, { [channel]: stored }, open);
  const [provider] = definitions[channel].providers;
  return account === undefined ? null : ({ provider, ...account } as OpenAccount<C>); // sound: the channel's own first
};

/** The accounts that `of` gives, by channel: those of the channels for which it gives one. */
const each = <Secret>(
  of: (channel: (typeof allDefinitions)[number]) => Record<string, unknown> | undefined,
): ChannelAccounts<Secret> => {
  const accounts = allDefinitions.flatMap((channel) => {
    const account = of(channel);
    return account === undefined ? [] : [[channel.name, account] as const];
  });
  return Object.fromEntries(accounts) as ChannelAccounts<Secret>; // sound: made from each channel's own schema
};
