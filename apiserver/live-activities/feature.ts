import type { Db } from "mongodb";
import { AppError } from "#core/errors.ts";
import {
  activityLimits,
  CreateLiveActivityType,
  LiveActivityType,
  LiveActivityTypeList,
  UpdateLiveActivityType,
} from "#core/schema/live-activities/type.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { appActivityTypes } from "#core/storage/live-activities/app-types.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { feature } from "../http/feature.ts";
import type { By } from "../settings/audit.ts";
import { settingRoutes } from "../settings/routes.ts";
import { newSetting, type SettingsPlatform, settings } from "../settings/settings.ts";
import { checkSchemas } from "./checks.ts";
import { docs } from "./openapi.ts";
import { activityTypeView } from "./views.ts";

const make = (platform: SettingsPlatform & { db: Db }) => {
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
  return {
    ...types,

    /** By its id, else by its name. Source: docs/reference/live-activities.md#schemas. */
    find: async (tenantId: string, appId: string, idOrName: string): Promise<LiveActivityTypeRow | null> =>
      (await store.find(tenantId, appId, idOrName)) ?? store.findByName(tenantId, appId, idOrName),

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

/** Types of live activities. */
export const liveActivities = feature({
  make,
  routes: [types.list, types.create, types.update, types.remove],
  ...docs,
});
