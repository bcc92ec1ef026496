import { AppError } from "#core/errors.ts";
import { activityLimits, type CreateLiveActivityType } from "#core/schema/live-activities/type.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { quotaExceeded } from "../limits/quota-exceeded.ts";
import type { By } from "../settings/audit.ts";
import { activityTypeChange } from "./audit.ts";
import { checkSchemas } from "./checks.ts";
import type { ActivityTypeDeps } from "./deps.ts";

/** Makes a type with an id of its own. */
export const createActivityType =
  (deps: ActivityTypeDeps) =>
  async (by: By, app: AppRow, id: string, body: CreateLiveActivityType): Promise<LiveActivityTypeRow> => {
    checkSchemas(body);
    const row = { ...newRow(app, body, deps.clock.now()), _id: id };
    await deps.audit(activityTypeChange(by, "created", { before: null, after: row }), () =>
      insertWithinRoom(deps, row),
    );
    deps.announce(row._id);
    return row;
  };

/**
 * Stores first and counts then: of two that are made at once and together pass the number of an app, at least the one
 * that counts last is taken back, so that the number is never passed.
 */
const insertWithinRoom = async (deps: ActivityTypeDeps, row: LiveActivityTypeRow): Promise<true> => {
  if (!(await deps.types.insert(row))) throw await nameTaken(deps, row);
  try {
    requireRoom(await deps.types.count(row.app_id));
    return true;
  } catch (error) {
    await deps.types.remove(row);
    throw error;
  }
};

/** The schema that holds for attributes when none is given: it checks nothing. Source: decisions 6.1. */
const anyAttributes = { type: "object" as const, properties: {} };

const newRow = (
  { _id, tenant_id }: AppRow,
  body: CreateLiveActivityType,
  now: Date,
): Omit<LiveActivityTypeRow, "_id"> => ({
  tenant_id,
  app_id: _id,
  name: body.name,
  description: body.description ?? null,
  content_state_schema: body.content_state_schema,
  attributes_schema: body.attributes_schema ?? anyAttributes,
  managed: null,
  created_at: now,
  updated_at: now,
});

const nameTaken = async ({ types }: ActivityTypeDeps, row: LiveActivityTypeRow): Promise<AppError> => {
  const holder = await types.findByName(row.tenant_id, row.app_id, row.name);
  const details = { field: "name", id: holder?._id ?? null };
  return new AppError("HS_ALREADY_EXISTS", "the app has a live activity type of this name", details);
};

const requireRoom = (count: number): void => {
  const limit = activityLimits.types;
  if (count <= limit) return;
  const exceeded = { metric: "live_activity_types", limit, used: limit, needed: 1 };
  throw quotaExceeded(`an app may have ${limit} live activity types`, exceeded);
};
