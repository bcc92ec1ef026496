import { settingProblems } from "#core/domain/apps/setting-rules.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import { AppError, refuse } from "#core/errors.ts";
import { App, type CreateApp, type UpdateApp } from "#core/schema/apps/app.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow, Apps } from "#core/storage/apps/apps.ts";
import type { Caller } from "../access/caller.ts";
import type { By } from "../settings/audit.ts";
import { type SettingsPlatform, things } from "../settings/settings.ts";
import { appRoom } from "./settings.ts";

const mostListed = 1_000; // docs/reference/apps.md

/** Makes, shows and changes apps of an organisation. Source: docs/reference/apps.md. */
export const appsUse = (platform: SettingsPlatform, apps: Pick<Apps, "find" | "called" | "ofTenant" | "owned">) => {
  const kept = things<AppRow, App>(platform, {
    what: "app",
    store: apps.owned,
    appOf: ({ _id }) => _id,
    view: appView,
    plan: appRoom,
    taken: async ({ tenant_id: tenantId, name }) => {
      const id = (await apps.called(tenantId, name))?._id ?? null;
      return new AppError("HS_ALREADY_EXISTS", "the organisation has an app of this name", { field: "name", id });
    },
  });
  return {
    /** Those that the key is for, in the order of creation. */
    list: async ({ tenant, key }: Caller): Promise<App[]> => {
      const all = await apps.ofTenant(tenant._id, mostListed);
      const own = all.filter(({ _id }) => key.app_ids === null || key.app_ids.includes(_id));
      return own
        .sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1))
        .map(appView);
    },

    /** What an attempt made that was cut short; null when it made nothing. */
    made: async ({ tenant }: Caller, id: string): Promise<App | null> => {
      const row = await apps.find(id);
      return row === null || row.tenant_id !== tenant._id ? null : appView(row);
    },

    /** @throws ValidationError, AppError HS_ALREADY_EXISTS, HS_PLAN_FEATURE_REQUIRED, HS_QUOTA_EXCEEDED */
    create: async (by: By, id: string, body: CreateApp): Promise<App> => {
      refuse(settingProblems(body));
      const now = platform.clock.now();
      const { tenant } = by.caller;
      const begin = { channels: {}, channels_revision: 1, managed: null, created_at: now, updated_at: now };
      return appView(await kept.create(by, { _id: id, tenant_id: tenant._id, ...body, ...begin }));
    },

    /** @throws ValidationError, AppError HS_ALREADY_EXISTS, HS_MANAGED */
    update: async (by: By, app: AppRow, body: UpdateApp): Promise<App> => {
      refuse(settingProblems(body));
      return appView(await kept.change(by, "updated", app, () => ({ set: body })));
    },
  };
};

/** An app as the REST interface shows it. */
export const appView = (row: AppRow): App =>
  showAs(App, {
    ...row,
    id: row._id,
    time_zone: settingsOf(row).time_zone,
    channels: Object.keys(row.channels).sort() as Channel[], // sound: by the type of its row
    managed: row.managed && { kind: row.managed.kind, namespace: row.managed.namespace, name: row.managed.name },
  });
