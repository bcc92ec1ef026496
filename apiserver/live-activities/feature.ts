import type { Db } from "mongodb";
import { AppError } from "#core/errors.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import {
  activityLimits,
  CreateLiveActivityType,
  LiveActivityType,
  LiveActivityTypeList,
  UpdateLiveActivityType,
} from "#core/schema/live-activities/type.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { appActivityTypes } from "#core/storage/live-activities/app-types.ts";
import { startTokens } from "#core/storage/live-activities/start-tokens.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { feature } from "../http/feature.ts";
import type { By } from "../settings/audit.ts";
import { settingRoutes } from "../settings/routes.ts";
import { newSetting, type SettingsPlatform, settings } from "../settings/settings.ts";
import { checkSchemas } from "./checks.ts";
import { docs } from "./openapi.ts";
import { type SendPlatform, sendRoutes, sends } from "./sends.ts";
import { activityTypeView } from "./views.ts";

const make = (platform: SettingsPlatform & SendPlatform & { db: Db }) => {
  const store = appActivityTypes(platform.db);
  const types = settings(platform, {
    what: "live activity type",
    store,
    view: activityTypeView,
    plan: { feature: "live_activities", metric: "live_activity_types", most: activityLimits.types },
    taken: async ({ tenant_id, app_id, name }: LiveActivityTypeRow) => {
      const details = { field: "name", id: (await store.findByName(tenant_id, app_id, name))?._id ?? null };
      return new AppError("HS_ALREADY_EXISTS", "the app has a live activity type of this name", details);
    },
  });
  /** By its id, else by its name. Source: docs/reference/live-activities.md#schemas. */
  const find = async (tenantId: string, appId: string, idOrName: string): Promise<LiveActivityTypeRow | null> =>
    (await store.find(tenantId, appId, idOrName)) ?? store.findByName(tenantId, appId, idOrName);
  return {
    ...types,
    ...sends(platform, find),
    find,
    ofApp: counted(platform.db, types.ofApp),

    create: async (by: By, app: AppRow, id: string, body: CreateLiveActivityType): Promise<LiveActivityTypeRow> => {
      checkSchemas(body);
      const { description = null, attributes_schema = anyAttributes } = body;
      const row = newSetting(app, id, platform.clock.now());
      return types.create(by, { ...row, ...body, description, attributes_schema });
    },

    update: async (by: By, found: LiveActivityTypeRow, body: UpdateLiveActivityType): Promise<LiveActivityTypeRow> => {
      checkSchemas(body);
      return types.change(by, "updated", found, () => ({ set: body }));
    },
  };
};

/** What checks attributes when no schema is given: nothing. Source: docs/reference/live-activities.md#attributes. */
const anyAttributes = { type: "object" as const, properties: {} };

const types = settingRoutes<LiveActivityTypeRow>()({
  name: "LiveActivityType",
  what: "live activity type",
  tag: "Live activities",
  path: "/v1/apps/{appId}/live-activities/types",
  parameter: "activityType",
  idKind: "liveActivityType",
  schemas: {
    create: CreateLiveActivityType,
    update: UpdateLiveActivityType,
    view: LiveActivityType,
    made: LiveActivityType,
    list: LiveActivityTypeList,
  },
  summaries: {
    list: "List the live activity types of an app",
    create: "Make a live activity type",
    get: "Show a live activity type, found by its id, else by its name",
    update: "Change a live activity type, found by its id, else by its name",
    remove: "Remove a live activity type, found by its id, else by its name",
  },
  errors: ["HS_ALREADY_EXISTS"],
});

/** With their push-to-start tokens: counted as they are asked for, so that no counter can go wrong. */
const counted =
  (db: Db, ofApp: (tenantId: string, appId: string) => Promise<LiveActivityTypeRow[]>) =>
  async (tenantId: string, appId: string): Promise<LiveActivityTypeRow[]> => {
    const { count } = startTokens(db);
    const withCount = async (row: LiveActivityTypeRow): Promise<LiveActivityTypeRow> => ({
      ...row,
      push_to_start_tokens: await count({ appId, typeId: row._id }),
    });
    return mapBounded(await ofApp(tenantId, appId), 8, withCount);
  };

/** Types of live activities, what is sent of them, and the tokens that devices report. */
export const liveActivities = feature({
  make,
  routes: [types.list, types.create, types.update, types.remove, ...sendRoutes],
  ...docs,
});
