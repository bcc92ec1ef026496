import { type OpenAccount as Opened, openAccount } from "#core/channels/accounts.ts";
import type { Sealed } from "#core/runtime/process/key-ring.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { sendingChannels } from "./all.ts";
import type { Account, AppOfAccount, Platform, ProviderDefinition } from "./kit/provider.ts";

export type AccountsDeps = Platform & {
  /** Opens a sealed secret. `context` is the place it was sealed for. */
  unseal: (sealed: Sealed, context: string) => string;
  /** The program's grace, ms: no send may take longer. */
  graceMs: number;
};

type Openers = { [C in Channel]: Record<string, (account: Opened<C>, app: AppOfAccount) => Account> };

/** Opens an app's account on a channel; null when it has none. Throws when it cannot be opened. */
export type OpenAccount = (app: AppRow, channel: Channel) => Account | null;

/** Readies what all accounts share. */
export const accountOpener = ({ unseal, graceMs, ...platform }: AccountsDeps): OpenAccount => {
  const opener = ({ timeoutMs, open }: ProviderDefinition<never>) =>
    open({ ...platform, timeoutMs: sendTimeoutMs(timeoutMs, graceMs) });
  const openers = mapValues(sendingChannels, (providers) => mapValues(providers, opener)) as Openers; // sound: each its own
  const opened = <C extends Channel>(channel: C, account: Opened<C>, app: AppOfAccount): Account => {
    const open = openers[channel][account.provider];
    if (open === undefined) throw new Error(`${channel} has no provider ${account.provider}`);
    return open(account, app);
  };

  return (app, channel) => {
    const account = openAccount(app, channel, unseal);
    return account === null ? null : opened(channel, account, { appId: app._id, tenantId: app.tenant_id });
  };
};

const mapValues = <A, B>(of: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, map(value)]));

/** The part of the grace that is left for storing the outcomes of the last sends. */
export const reserveMs = 5_000;

/**
 * The time of one send of a program with this grace: never longer than the grace, so that what was begun before SIGTERM
 * has its outcome, and it is stored, before the program ends.
 */
export const sendTimeoutMs = (providersMs: number, graceMs: number): number =>
  Math.min(providersMs, Math.max(graceMs - reserveMs, graceMs / 2));
