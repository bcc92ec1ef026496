import { isDeepStrictEqual } from "node:util";
import { beyondRetention, settingProblems } from "#core/domain/apps/setting-rules.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import { refuse } from "#core/errors.ts";
import {
  type AppSettings,
  type SettingValues,
  settingFeatures,
  settingNames,
  type UpdateAppSettings,
} from "#core/schema/apps/settings.ts";
import { type AppRow, type Apps, mostApps } from "#core/storage/apps/apps.ts";
import type { Caller } from "../access/caller.ts";
import { existing } from "../http/locate.ts";
import { requireFeature } from "../limits/plan-rules.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { type SettingsPlatform, things } from "../settings/settings.ts";

/** Shows and changes the settings of apps. Source: docs/reference/settings.md. */
export const appSettingsUse = (platform: SettingsPlatform, { find, owned }: Pick<Apps, "find" | "owned">) => {
  const kept = things<AppRow, AppSettings>(platform, {
    what: "settings",
    store: owned,
    appOf: ({ _id }) => _id,
    view: settingsOf,
    plan: appRoom,
  });
  const require = requireFeature(platform.plans);
  return {
    /** As they are now: another replica may have changed them a moment ago. */
    show: async ({ _id }: Pick<AppRow, "_id">): Promise<AppSettings> => settingsOf(existing(await find(_id), "app")),

    /** @throws ValidationError, AppError HS_PLAN_FEATURE_REQUIRED, HS_MANAGED */
    update: async (by: By, app: AppRow, body: UpdateAppSettings): Promise<AppSettings> => {
      refuse([...settingProblems(body), ...beyondRetention(body, by.caller.plan)]);
      await requireFeatures(require, by.caller, body);
      const changed = await kept.write(app, async (row) => {
        requireUnmanaged("settings", row, Object.keys(body));
        const isSame = isDeepStrictEqual(settingsOf({ ...row, ...body }), settingsOf(row));
        return isSame ? row : kept.attempt(by, "updated", row, { set: body });
      });
      return settingsOf(changed);
    },
  };
};

const requireFeatures = async (
  require: ReturnType<typeof requireFeature>,
  caller: Caller,
  given: SettingValues,
): Promise<void> => {
  for (const name of settingNames) {
    const feature = settingFeatures[name];
    if (feature !== undefined && (given[name] ?? null) !== null) await require(caller, feature);
  }
};

/** What plans say about apps. */
export const appRoom = {
  metric: "apps",
  most: mostApps,
  ofPlan: ({ apps }: { apps: number | null }) => apps ?? mostApps,
} as const;
