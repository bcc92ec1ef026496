import { shownAccounts } from "#core/channels/accounts.ts";
import { AccountCheck, type ChannelAccount } from "#core/schema/apps/account.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AccountCheckRows } from "#core/storage/apps/account-checks.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";

/** An account of a channel that can be sent over. */
export type Shown = ChannelAccount & { channel: Channel };

/** The accounts of an app as the REST interface shows them: nothing of their secrets. */
export const channelAccounts = ({ channels, channels_revision }: AppRow, checks: AccountCheckRows): Shown[] =>
  shownAccounts(channels).map((account) => {
    const last = checks.get(account.channel)?.last ?? null;
    if (last === null) return { ...account, check: null };
    return { ...account, check: showAs(AccountCheck, { ...last, is_current: last.revision === channels_revision }) };
  });
