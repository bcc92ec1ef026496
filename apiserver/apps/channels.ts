import { shownAccounts } from "#core/channels/accounts.ts";
import { accountOfRest } from "#core/channels/rest-accounts.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { PutChannelAccount } from "#core/schema/apps/account.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AccountChecks } from "#core/storage/apps/account-checks.ts";
import type { AppRow, Apps } from "#core/storage/apps/apps.ts";
import { type Accounts, sealAccounts } from "#core/storage/apps/seal-accounts.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { type SettingsPlatform, things } from "../settings/settings.ts";
import { appRoom } from "./settings.ts";

type Deps = SettingsPlatform & { secrets: KeyRing };

const soonMs = 5_000; // later than the write takes that an account is tested after

/** Sets up and removes the accounts of apps, one by one. Source: docs/reference/channels.md#accounts. */
export const channelsUse = (platform: Deps, apps: Pick<Apps, "owned">, checks: AccountChecks) => {
  const { secrets, clock } = platform;
  const kept = things<AppRow, object>(platform, {
    what: "channel",
    store: apps.owned,
    appOf: ({ _id }) => _id,
    view: reported,
    plan: appRoom,
  });

  /** Has `accounts` stand where the one of the channel stands, and has it tested: also when this is cut short. */
  const write = async (by: By, app: AppRow, channel: Channel, accounts: Accounts): Promise<AppRow> => {
    const isOthers = (other: string): boolean => other !== channel;
    const changed = await kept.write(app, async (row) => {
      requireUnmanaged("app", row, [`channels.${channel}`]);
      const sealed = sealAccounts(secrets, row._id, accounts, { stored: row, isOthers });
      if (sealed.channels_revision === row.channels_revision) return row;
      await checks.ask({ ...row, ...sealed }, [channel], new Date(clock.now().getTime() + soonMs));
      return kept.attempt(by, "updated", row, { set: sealed });
    });
    if (changed.channels_revision !== app.channels_revision) await checks.ask(changed, [channel], clock.now());
    return changed;
  };

  return {
    /** @throws ValidationError, AppError HS_MANAGED */
    put: (by: By, app: AppRow, channel: Channel, body: PutChannelAccount): Promise<AppRow> =>
      write(by, app, channel, accountOfRest(channel, body)),

    /** @throws AppError HS_MANAGED */
    remove: async (by: By, app: AppRow, channel: Channel): Promise<void> => void (await write(by, app, channel, {})),
  };
};

/** What the audit log tells apart: nothing of a secret, but that the accounts are others. */
const reported = ({ channels, channels_revision }: AppRow): object => ({
  ...Object.fromEntries(
    shownAccounts(channels).map(({ channel, ...account }) => [`channels.${channel}`, account] as const),
  ),
  channels_revision,
});
