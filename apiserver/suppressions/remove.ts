import type { Clock } from "#core/domain/clock.ts";
import { removalOf } from "#core/domain/suppressions/strength.ts";
import { AppError } from "#core/errors.ts";
import type { SuppressionRow, Suppressions } from "#core/storage/suppressions/suppressions.ts";
import { writeAsIs } from "../settings/write-as-is.ts";

export type RemoveDeps = { suppressions: Pick<Suppressions, "find" | "remove">; clock: Clock };

/** Lifts an entry, as it is by then. @throws AppError HS_NOT_REMOVABLE. Source: docs/reference/suppressions.md#removal. */
export const removeSuppression =
  ({ suppressions, clock }: RemoveDeps) =>
  async (found: SuppressionRow, isForced: boolean): Promise<void> => {
    await writeAsIs({
      what: "suppression",
      found,
      reread: ({ tenant_id: tenantId, app_id: appId, _id }) => suppressions.find({ tenantId, appId }, _id, clock.now()),
      attempt: async (row) => {
        requireRemovable(row, isForced);
        return (await suppressions.remove(row)) || null;
      },
    });
  };

const requireRemovable = ({ reason }: SuppressionRow, isForced: boolean): void => {
  const removal = removalOf(reason);
  if (removal === "free" || (removal === "forced" && isForced)) return;
  const message = removal === "forced" ? `a ${reason} is lifted only with force=true` : `a key cannot lift a ${reason}`;
  throw new AppError("HS_NOT_REMOVABLE", message, { reason });
};
