import { isDeepStrictEqual } from "node:util";
import { type ChannelAccounts, withSecrets } from "#core/channels/accounts.ts";
import { type KeyRing, KeyRingError, type Sealed } from "#core/runtime/process/key-ring.ts";
import type { Accounts } from "./credentials.ts";

export type SealedAccounts = { channels: ChannelAccounts<Sealed>; channels_revision: number };

/**
 * Seals accounts for storage. Stored accounts that open to the same values are kept, so that a resync writes nothing;
 * when they were sealed with a former key they are sealed anew under the same revision.
 */
export const sealAccounts = (
  ring: KeyRing,
  appId: string,
  accounts: Accounts,
  stored: SealedAccounts | null,
): SealedAccounts => {
  const channels = (): ChannelAccounts<Sealed> => withSecrets(appId, accounts, ring.seal);
  if (stored === null) return { channels: channels(), channels_revision: 1 };
  const { opened, isStale } = open(ring, appId, stored.channels);
  if (!isDeepStrictEqual(opened, accounts)) {
    return { channels: channels(), channels_revision: stored.channels_revision + 1 };
  }
  return { channels: isStale ? channels() : stored.channels, channels_revision: stored.channels_revision };
};

/** Null when a secret cannot be opened any more: it was altered, or its key is gone. */
const open = (
  ring: KeyRing,
  appId: string,
  sealed: ChannelAccounts<Sealed>,
): { opened: Accounts | null; isStale: boolean } => {
  let isStale = false;
  try {
    const opened = withSecrets(appId, sealed, (secret: Sealed, context) => {
      isStale ||= ring.isStale(secret);
      return ring.open(secret, context);
    });
    return { opened, isStale };
  } catch (error) {
    if (error instanceof KeyRingError) return { opened: null, isStale };
    throw error;
  }
};
