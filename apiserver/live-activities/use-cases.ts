import type { Db } from "mongodb";
import { appActivityTypes } from "#core/storage/live-activities/app-types.ts";
import { type LiveActivityTypeRow, liveActivityTypeCollection } from "#core/storage/live-activities/types.ts";
import { type AllPlans, featureRule } from "../limits/plan-rules.ts";
import type { LateNats } from "../publishing/late-nats.ts";
import { removeActivityType, updateActivityType } from "./change.ts";
import { createActivityType } from "./create.ts";
import type { ActivityTypeDeps } from "./deps.ts";

export type ActivityTypes = ReturnType<typeof activityTypes>;

/** What the operations on live activity types use. */
export const activityTypes = ({ db, nats, ...platform }: ActivityPlatform) => {
  const types = appActivityTypes(db);
  const deps = { ...platform, types, announce: (id: string) => nats.changed(liveActivityTypeCollection.name, id) };
  return {
    requireFeature: featureRule(deps.plans, "live_activities"),
    ofApp: types.ofApp,
    /** The type that a path names: by its id, else by its name. Source: decisions 6.1. */
    find: async (tenantId: string, appId: string, idOrName: string): Promise<LiveActivityTypeRow | null> =>
      (await types.findById(tenantId, appId, idOrName)) ?? types.findByName(tenantId, appId, idOrName),
    create: createActivityType(deps),
    update: updateActivityType(deps),
    remove: removeActivityType(deps),
  };
};

type ActivityPlatform = Pick<ActivityTypeDeps, "audit" | "clock"> & {
  db: Db;
  nats: Pick<LateNats, "changed">;
  plans: AllPlans;
};
