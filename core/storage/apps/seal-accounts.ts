import { isDeepStrictEqual } from "node:util";
import { type ChannelAccounts, withSecrets } from "../../channels/accounts.ts";
import { ifOpenable, type KeyRing, type Sealed } from "../../runtime/process/key-ring.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";

export type SealedAccounts = { channels: ChannelAccounts<Sealed>; channels_revision: number };

/** What is stored, and which of its channels are others'. */
type Stored = { stored: SealedAccounts | null; isOthers?: (channel: string) => boolean };

/**
 * Seals accounts for storage, beside those of channels that are others'. Stored accounts that open to the same values are
 * kept, so that a resync writes nothing; when they were sealed with a former key they are sealed anew under the same revision.
 */
export const sealAccounts = (
  keyRing: KeyRing,
  appId: string,
  accounts: Accounts,
  { stored, isOthers = () => false }: Stored,
): SealedAccounts => {
  const former = stored?.channels ?? {};
  const others = Object.fromEntries(Object.entries(former).filter(([channel]) => isOthers(channel)));
  const gone = Object.keys(former).filter((channel) => !isOthers(channel) && !(channel in accounts));
  const sealed = Object.keys(accounts).map((channel) =>
    sealOne(keyRing, appId, channel as Channel, { accounts, former }),
  );
  const isChanged = gone.length > 0 || sealed.some((one) => one.isChanged);
  const channels = Object.assign({}, others, ...sealed.map((one) => one.account)) as SealedAccounts["channels"];
  if (stored === null) return { channels, channels_revision: 1 };
  return { channels, channels_revision: stored.channels_revision + (isChanged ? 1 : 0) };
};

type OfAll = { accounts: Accounts; former: ChannelAccounts<Sealed> };

const sealOne = (keyRing: KeyRing, appId: string, channel: Channel, { accounts, former }: OfAll) => {
  const wanted = { [channel]: accounts[channel] };
  const before = { [channel]: former[channel] };
  let isStale = false;
  const open = (secret: Sealed, context: string): string => {
    isStale ||= keyRing.isStale(secret);
    return keyRing.open(secret, context);
  };
  const opened = channel in former ? ifOpenable(() => withSecrets(appId, before, open)) : null;
  const isChanged = !isDeepStrictEqual(opened, wanted);
  const account = isChanged || isStale ? withSecrets(appId, wanted, keyRing.seal) : before;
  return { account, isChanged };
};

export type Accounts = ChannelAccounts<string>;
