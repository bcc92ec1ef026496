import type { UpdateLiveActivityType } from "#core/schema/live-activities/type.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { rememberChange } from "#core/storage/work/intended-changes.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { laterThan, writeAsIs } from "../settings/write-as-is.ts";
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

/** Writes to a type as it is now; `attempt` gives null when another was quicker. */
const write = <T>(
  { types }: ActivityTypeDeps,
  found: LiveActivityTypeRow,
  attempt: (row: LiveActivityTypeRow) => Promise<T | null>,
): Promise<T> => {
  const what = "live activity type";
  return writeAsIs({
    what,
    found,
    reread: ({ tenant_id: tenantId, app_id: appId, _id }) => types.findById(tenantId, appId, _id),
    attempt: (row) => {
      requireUnmanaged(what, row);
      return attempt(row);
    },
  });
};
