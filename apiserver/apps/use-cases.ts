import type { Db } from "mongodb";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { accountChecks } from "#core/storage/apps/account-checks.ts";
import { type AppRow, apps } from "#core/storage/apps/apps.ts";
import { removals } from "#core/storage/work/removals.ts";
import { existing } from "../http/locate.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { SettingsPlatform } from "../settings/settings.ts";
import { appsUse } from "./apps.ts";
import { channelsUse } from "./channels.ts";
import { appSettingsUse } from "./settings.ts";
import { channelAccounts, type Shown } from "./views.ts";

export type AppUse = ReturnType<typeof appUseCases>;

/** What the operations on apps do. */
export const appUseCases = (platform: SettingsPlatform & { db: Db; limit: NarrowLimit; secrets: KeyRing }) => {
  const { db, limit, clock } = platform;
  const checks = accountChecks(db);
  const list = async (app: AppRow): Promise<Shown[]> => channelAccounts(app, await checks.of(app));
  return {
    list,
    apps: appsUse(platform, apps(db), removals(db)),
    channels: channelsUse(platform, apps(db), checks),
    settings: appSettingsUse(platform, apps(db)),

    /** The app as it is now: another replica may have changed it a moment ago. */
    asItIs: async ({ _id }: AppRow): Promise<AppRow> => existing(await apps(db).find(_id), "app"),

    find: async (app: AppRow, channel = ""): Promise<Shown> =>
      existing((await list(app)).find((account) => account.channel === channel) ?? null, "account"),

    /** Has an account tested now, by a dispatcher. Source: docs/reference/channels.md#connection-test. */
    test: async (app: AppRow, { channel }: Shown): Promise<void> => {
      await limit("channels.test", `${app._id}/${channel}`);
      await checks.ask(app, [channel], clock.now());
    },
  };
};
