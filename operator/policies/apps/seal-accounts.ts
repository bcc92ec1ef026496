import { isDeepStrictEqual } from "node:util";
import type { Sealed } from "#core/runtime/process/key-ring.ts";
import { type KeyRing, KeyRingError } from "#core/runtime/process/key-ring.ts";
import type { ChannelAccounts } from "#core/storage/apps/apps.ts";
import type { Accounts } from "./credentials.ts";

export type SealedAccounts = { channels: ChannelAccounts; channels_revision: number };

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
  const seal = (plain: string, member: string): Sealed => ring.seal(plain, contextOf(appId, member));
  const channels = (): ChannelAccounts => mapSecrets(accounts, seal);
  if (stored === null) return { channels: channels(), channels_revision: 1 };
  const { opened, isStale } = open(ring, appId, stored.channels);
  if (!isDeepStrictEqual(opened, accounts)) {
    return { channels: channels(), channels_revision: stored.channels_revision + 1 };
  }
  return { channels: isStale ? channels() : stored.channels, channels_revision: stored.channels_revision };
};

const contextOf = (appId: string, member: string): string => `apps/${appId}/${member}`;

/** Null when a secret cannot be opened any more: it was altered, or its key is gone. */
const open = (ring: KeyRing, appId: string, sealed: ChannelAccounts): { opened: Accounts | null; isStale: boolean } => {
  let isStale = false;
  try {
    const opened = mapSecrets(sealed, (secret, member) => {
      isStale ||= ring.isStale(secret);
      return ring.open(secret, contextOf(appId, member));
    });
    return { opened, isStale };
  } catch (error) {
    if (error instanceof KeyRingError) return { opened: null, isStale };
    throw error;
  }
};

/** Replaces every secret of the accounts; `member` is its place, e.g. `ios_push.private_key`. */
const mapSecrets = <A, B>(
  { ios_push, android_push, web_push, email }: ChannelAccounts<A>,
  replace: (secret: A, member: string) => B,
): ChannelAccounts<B> => ({
  ...(ios_push && { ios_push: { ...ios_push, private_key: replace(ios_push.private_key, "ios_push.private_key") } }),
  ...(android_push && {
    android_push: { ...android_push, private_key: replace(android_push.private_key, "android_push.private_key") },
  }),
  ...(web_push && { web_push: { ...web_push, private_key: replace(web_push.private_key, "web_push.private_key") } }),
  ...(email && {
    email: {
      ...email,
      password: email.password === null ? null : replace(email.password, "email.password"),
      dkim: email.dkim && { ...email.dkim, private_key: replace(email.dkim.private_key, "email.dkim.private_key") },
    },
  }),
});
