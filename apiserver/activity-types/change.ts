import { AppError, NotFound } from "#core/errors.ts";
import type { UpdateLiveActivityType } from "#core/schema/live-activity-type.ts";
import { rememberChange } from "#core/storage/intended-changes.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activity-types.ts";
import type { By } from "../audit.ts";
import { requireUnmanaged } from "../managed.ts";
import { activityTypeChange } from "./audit.ts";
import { checkSchemas } from "./checks.ts";
import type { ActivityTypeDeps } from "./deps.ts";

/** Changes the members that are given. @throws AppError HS_MANAGED when a resource enforces the type */
export const updateActivityType =
  (deps: ActivityTypeDeps) =>
  async (by: By, found: LiveActivityTypeRow, body: UpdateLiveActivityType): Promise<LiveActivityTypeRow> => {
    checkSchemas(body);
    const { types, audit, clock } = deps;
    const written = await write(deps, found, (before) => {
      const wanted = { ...body, updated_at: laterThan(before.updated_at, clock.now()) };
      const intended = activityTypeChange(by, "updated", { before, after: { ...before, ...wanted } });
      return audit(intended, (id) => types.change(before, { ...wanted, ...rememberChange(before, id) }));
    });
    deps.announce(written._id);
    return written;
  };

/** Removes a type. @throws AppError HS_MANAGED when a resource enforces it */
export const removeActivityType =
  (deps: ActivityTypeDeps) =>
  async (by: By, found: LiveActivityTypeRow): Promise<void> => {
    const { types, audit } = deps;
    await write(deps, found, (before) =>
      audit(
        activityTypeChange(by, "deleted", { before, after: null }),
        async () => (await types.remove(before)) || null,
      ),
    );
    deps.announce(found._id);
  };

const attempts = 5; // each lost to another writer of the same type

/** Writes to a type as it is now, again when another was quicker; `attempt` gives null then. */
const write = async <T>(
  { types }: ActivityTypeDeps,
  found: LiveActivityTypeRow,
  attempt: (row: LiveActivityTypeRow) => Promise<T | null>,
): Promise<T> => {
  let row: LiveActivityTypeRow | null = found;
  for (let i = 0; i < attempts; i++) {
    if (row === null) throw new NotFound("live activity type");
    requireUnmanaged("live activity type", row);
    const written = await attempt(row);
    if (written !== null) return written;
    row = await types.findById(row.tenant_id, row.app_id, row._id);
  }
  const details = { status: "busy" };
  throw new AppError("HS_CONFLICT", "the live activity type is being changed by others at the same moment", details);
};

/** Grows with every change, so that it tells versions apart. */
const laterThan = (before: Date, now: Date): Date => (now > before ? now : new Date(before.getTime() + 1));
