import { AppError, NotFound } from "#core/errors.ts";
import type { UpdateLiveActivityType } from "#core/schema/live-activity-type.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activity-types.ts";
import type { By } from "../audit.ts";
import { requireUnmanaged } from "../managed.ts";
import { activityTypeFact } from "./audit.ts";
import { checkSchemas } from "./checks.ts";
import type { ActivityTypeDeps } from "./deps.ts";

/** Changes the members that are given. @throws AppError HS_MANAGED when a resource enforces the type */
export const updateActivityType =
  (deps: ActivityTypeDeps) =>
  async (by: By, found: LiveActivityTypeRow, body: UpdateLiveActivityType): Promise<LiveActivityTypeRow> => {
    checkSchemas(body);
    const { types, clock } = deps;
    const { before, written } = await write(deps, found, async (row) => {
      const updated_at = laterThan(row.updated_at, clock.now());
      return types.change(row, { ...body, updated_at });
    });
    deps.announce(written._id);
    await deps.audit(activityTypeFact(by, "updated", { before, after: written }));
    return written;
  };

/** Removes a type. @throws AppError HS_MANAGED when a resource enforces it */
export const removeActivityType =
  (deps: ActivityTypeDeps) =>
  async (by: By, found: LiveActivityTypeRow): Promise<void> => {
    const { before } = await write(deps, found, async (row) => (await deps.types.remove(row)) || null);
    deps.announce(before._id);
    await deps.audit(activityTypeFact(by, "deleted", { before, after: null }));
  };

const attempts = 5; // each lost to another writer of the same type

/** Writes to a type as it is now, again when another was quicker; `attempt` gives null then. */
const write = async <T>(
  { types }: ActivityTypeDeps,
  found: LiveActivityTypeRow,
  attempt: (row: LiveActivityTypeRow) => Promise<T | null>,
): Promise<{ before: LiveActivityTypeRow; written: T }> => {
  let row: LiveActivityTypeRow | null = found;
  for (let i = 0; i < attempts; i++) {
    if (row === null) throw new NotFound("live activity type");
    requireUnmanaged("live activity type", row);
    const written = await attempt(row);
    if (written !== null) return { before: row, written };
    row = await types.findById(row.tenant_id, row.app_id, row._id);
  }
  const details = { status: "busy" };
  throw new AppError("HS_CONFLICT", "the live activity type is being changed by others at the same moment", details);
};

/** Grows with every change, so that it tells versions apart. */
const laterThan = (before: Date, now: Date): Date => (now > before ? now : new Date(before.getTime() + 1));
