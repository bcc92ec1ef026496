import type { Db } from "mongodb";
import { defaultPlatforms } from "#core/domain/live-activities/platforms.ts";
import { AppError } from "#core/errors.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import type { CreateLiveActivityType, UpdateLiveActivityType } from "#core/schema/live-activities/type.ts";
import { activityLimits } from "#core/schema/live-activities/type.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { activities as activityStore } from "#core/storage/live-activities/activities.ts";
import { activityTypes, appActivityTypes } from "#core/storage/live-activities/app-types.ts";
import { endOfType } from "#core/storage/live-activities/end-of-type.ts";
import { startTokens } from "#core/storage/live-activities/start-tokens.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { type OfApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { By } from "../settings/audit.ts";
import { newSetting, type SettingsPlatform, settings } from "../settings/settings.ts";
import { channelUse } from "./channels.ts";
import { checkName, checkSchemas } from "./checks.ts";
import { type SendPlatform, sends } from "./send-routes.ts";
import { activityTypeView } from "./views.ts";

export type LiveActivityUse = ReturnType<typeof liveActivityUseCases>;

/** What the operations on live activity types do. */
export const liveActivityUseCases = (platform: SettingsPlatform & SendPlatform & { db: Db }) => {
  const { db } = platform;
  const [store, activities, tokens] = [appActivityTypes(db), activityStore(db), startTokens(db)];
  const endAll = endOfType(db);
  const types = settings(platform, {
    what: "live activity type",
    store,
    view: activityTypeView,
    plan: { feature: "live_activities", metric: "live_activity_types", most: activityLimits.types },
    taken: async (row: LiveActivityTypeRow) => {
      const details = { field: "name", id: (await store.findByName(ofRow(row), row.name))?._id ?? null };
      return new AppError("HS_ALREADY_EXISTS", "the app has a live activity type of this name", details);
    },
  });
  const find = activityTypes(db);
  /** With its push-to-start tokens: counted as they are asked for, so that no counter can go wrong. */
  const counted = async (row: LiveActivityTypeRow): Promise<LiveActivityTypeRow> => ({
    ...row,
    push_to_start_tokens: await tokens.count({ appId: row.app_id, typeId: row._id }),
  });
  return {
    ...types,
    ...sends(platform, find),
    channels: channelUse(platform),
    find,
    ofApp: async (of: OfApp): Promise<LiveActivityTypeRow[]> => mapBounded(await types.ofApp(of), 8, counted),

    check: (body: CreateLiveActivityType): void => {
      checkName(body.name);
      checkSchemas(body);
    },

    create: async (by: By, app: AppRow, id: string, body: CreateLiveActivityType): Promise<LiveActivityTypeRow> => {
      const { description = null, attributes_schema = anyAttributes } = body;
      const { platforms = defaultPlatforms, frequent_updates = false } = body;
      const row = newSetting(app, id, platform.clock.now());
      return types.create(by, { ...row, ...body, description, attributes_schema, platforms, frequent_updates });
    },

    update: async (by: By, found: LiveActivityTypeRow, body: UpdateLiveActivityType): Promise<LiveActivityTypeRow> => {
      checkSchemas(body);
      return counted(await types.change(by, "updated", found, () => ({ set: body })));
    },

    /** While activities of it run only when they are to be ended. @throws AppError HS_CONFLICT */
    removeType: async (by: By, found: LiveActivityTypeRow, isForced: boolean): Promise<void> => {
      const running = await activities.countRunning(ofRow(found), found._id);
      if (running > 0 && !isForced) {
        const details = { status: "running", active_activities: running };
        throw new AppError("HS_CONFLICT", "activities of this type are running", details);
      }
      await types.remove(by, found);
      await endAll(found.app_id, found._id, platform.clock.now());
    },
  };
};

/** What checks attributes when no schema is given: nothing. Source: docs/reference/live-activities.md#attributes. */
const anyAttributes = { type: "object" as const, properties: {} };
