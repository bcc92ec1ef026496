import type { Clock } from "#core/domain/clock.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { writeAsIs } from "../settings/write-as-is.ts";
import { displacedOf } from "./register-subscription.ts";

export type MoveSubscriptionDeps = {
  subscriptions: Pick<Subscriptions, "find" | "ofUser" | "update">;
  remove: (row: SubscriptionRow) => Promise<void>;
  clock: Clock;
};

/**
 * Gives a subscription to another user, with all that it is, and notes in the same write since when nothing proves that it is theirs.
 * An invalid one of that user makes room, as it does for a new one.
 * @throws AppError HS_CONFLICT when the user has no room
 */
export const moveSubscription =
  ({ subscriptions, remove, clock }: MoveSubscriptionDeps) =>
  (
    found: SubscriptionRow,
    user: UserRow,
    proof: Pick<SubscriptionRow, "unproven_since"> = {},
  ): Promise<SubscriptionRow> =>
    writeAsIs({
      what: "subscription",
      found,
      reread: (read) => subscriptions.find(ofRow(read), read._id),
      attempt: async (read) => {
        if (read.user_id === user._id) return read;
        const displaced = displacedOf(await subscriptions.ofUser(ofRow(user), user._id));
        if (displaced !== null) await remove(displaced);
        const owner = { user_id: user._id, external_id: user.external_id, updated_at: clock.now(), ...proof };
        const moved = await subscriptions.update(read.tenant_id, read, owner);
        if (moved === "taken") throw new Error(`the subscription ${read._id} kept its token, and another has it`);
        return moved;
      },
    });
