import { isDeepStrictEqual } from "node:util";
import {
  type AccountSpecs,
  accountsOf as accountsIn,
  type ChannelAccounts,
  withSecrets,
} from "#core/channels/accounts.ts";
import { ifOpenable, type KeyRing, type Sealed } from "#core/runtime/process/key-ring.ts";
import type { Finding } from "../conditions.ts";
import { fromSecrets, type SecretValues } from "../secret-reader.ts";

export type SealedAccounts = { channels: ChannelAccounts<Sealed>; channels_revision: number };

/**
 * Seals accounts for storage. Stored accounts that open to the same values are kept, so that a resync writes nothing;
 * when they were sealed with a former key they are sealed anew under the same revision.
 */
export const sealAccounts = (
  keyRing: KeyRing,
  appId: string,
  accounts: Accounts,
  stored: SealedAccounts | null,
): SealedAccounts => {
  const channels = (): ChannelAccounts<Sealed> => withSecrets(appId, accounts, keyRing.seal);
  if (stored === null) return { channels: channels(), channels_revision: 1 };
  let isStale = false;
  const open = (secret: Sealed, context: string): string => {
    isStale ||= keyRing.isStale(secret);
    return keyRing.open(secret, context);
  };
  const opened = ifOpenable(() => withSecrets(appId, stored.channels, open));
  if (!isDeepStrictEqual(opened, accounts)) {
    return { channels: channels(), channels_revision: stored.channels_revision + 1 };
  }
  return { channels: isStale ? channels() : stored.channels, channels_revision: stored.channels_revision };
};

export type Accounts = ChannelAccounts<string>;

/** The provider accounts that an App asks for, or what is wrong with its Secrets. */
export const accountsOf = (
  { channels }: { channels: AccountSpecs },
  secrets: SecretValues,
): { accounts: Accounts } | { finding: Finding } =>
  fromSecrets(secrets, (read) => ({ accounts: accountsIn(channels, read) }));
