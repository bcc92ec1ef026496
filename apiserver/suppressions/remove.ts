import type { Clock } from "#core/domain/clock.ts";
import { statusBy } from "#core/domain/suppressions/effects.ts";
import { removalOf } from "#core/domain/suppressions/strength.ts";
import { AppError } from "#core/errors.ts";
import { type SuppressionLifted, suppressionReasons } from "#core/schema/suppressions/suppression.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { contactSubscriptions } from "#core/storage/people/ended.ts";
import type { SuppressionRow, Suppressions } from "#core/storage/suppressions/suppressions.ts";
import { writeAsIs } from "../settings/write-as-is.ts";

export type RemoveDeps = {
  suppressions: Pick<Suppressions, "find" | "remove">;
  subscriptions: Pick<ReturnType<typeof contactSubscriptions>, "restore">;
  clock: Clock;
};

/**
 * Lifts an entry, as it is by then, and restores the subscription that it alone had made invalid: that first, since nobody
 * finds the subscription by an entry that is gone. Until then the entry holds back what would be sent to it.
 * @throws AppError HS_NOT_REMOVABLE. Source: docs/reference/suppressions.md#removal.
 */
export const removeSuppression =
  (deps: RemoveDeps) =>
  (found: SuppressionRow, isForced: boolean): Promise<SuppressionLifted> => {
    const { suppressions, clock } = deps;
    let restored = false;
    return writeAsIs({
      what: "suppression",
      found,
      reread: (read) => suppressions.find(ofRow(read), read._id, clock.now()),
      attempt: async (row) => {
        requireRemovable(row, isForced);
        restored = (await restore(deps, row)) || restored;
        return (await suppressions.remove(row, clock.now())) ? { ok: true, restored } : null;
      },
    });
  };

const restore = async ({ subscriptions, clock }: RemoveDeps, row: SuppressionRow): Promise<boolean> => {
  const { tenant_id: tenantId, app_id: appId, channel, address, reason } = row;
  if (channel === null || address === null || !invalidating.includes(reason)) return false;
  return subscriptions.restore({ tenantId, appId }, { channel, address, reasons: invalidating }, clock.now());
};

/** What makes an address invalid; the other reasons that end a subscription are its person's own word. */
const invalidating = suppressionReasons.filter((reason) => statusBy(reason) === "invalid");

const requireRemovable = ({ reason }: SuppressionRow, isForced: boolean): void => {
  const removal = removalOf(reason);
  if (removal === "free" || (removal === "forced" && isForced)) return;
  const message = removal === "forced" ? `a ${reason} is lifted only with force=true` : `a key cannot lift a ${reason}`;
  throw new AppError("HS_NOT_REMOVABLE", message, { reason });
};
