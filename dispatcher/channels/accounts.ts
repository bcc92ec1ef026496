import { type OpenAccount, openAccount } from "#core/channels/accounts.ts";
import type { Sealed } from "#core/runtime/process/key-ring.ts";
import type { SendableChannel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { sendingChannels } from "./all.ts";
import { sendTimeoutMs } from "./deadlines.ts";
import type { Account, Platform, ProviderDefinition } from "./kit/provider.ts";

export type AccountsDeps = Platform & {
  /** Opens a sealed secret. `context` is the place it was sealed for. */
  unseal: (sealed: Sealed, context: string) => string;
  /** The program's grace, ms: no send may take longer. */
  graceMs: number;
};

type Openers = { [C in SendableChannel]: Record<string, (account: OpenAccount<C>) => Account> };

/** Opens an app's account on a channel; null when it has none. Throws when it cannot be opened. */
export const accountOpener = ({ unseal, graceMs, ...platform }: AccountsDeps) => {
  const opener = ({ timeoutMs, open }: ProviderDefinition<never>) =>
    open({ ...platform, timeoutMs: sendTimeoutMs(timeoutMs, graceMs) });
  const openers = mapValues(sendingChannels, (providers) => mapValues(providers, opener)) as Openers; // sound: each its own
  const opened = <C extends SendableChannel>(channel: C, account: OpenAccount<C>): Account => {
    const open = openers[channel][account.provider];
    if (open === undefined) throw new Error(`${channel} has no provider ${account.provider}`);
    return open(account);
  };

  return (app: AppRow, channel: SendableChannel): Account | null => {
    const account = openAccount(app, channel, unseal);
    return account === null ? null : opened(channel, account);
  };
};

const mapValues = <A, B>(of: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, map(value)]));
