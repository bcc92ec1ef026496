import type { Collection } from "mongodb";
import type { MessageRow } from "./message-row.ts";
import type { Usage } from "./usage.ts";

/** What is known of a message whose reservation is to be settled. */
export type Settling = Pick<MessageRow, "_id" | "tenant_id" | "reserved" | "unsettled">;

/**
 * Gives back what a message that has ended had reserved and did not use; nothing when it says that this was done. It may
 * be called again after a kill at any moment: the usage knows the message until the message itself says so.
 */
export const settleReserved =
  (rows: Collection<MessageRow>, usage: Pick<Usage, "giveBack" | "noteSettled">) =>
  async ({ _id, tenant_id, reserved, unsettled }: Settling, now: Date): Promise<void> => {
    if (reserved === null || unsettled === undefined) return;
    await usage.giveBack(tenant_id, { id: _id, periods: reserved.periods, count: unsettled }, now);
    await rows.updateOne({ _id }, [{ $unset: "unsettled" }, { $set: { due_at: whenDone } }]); // one write, so that no kill leaves it due
    usage.noteSettled(tenant_id, _id, reserved).catch(() => undefined); // then it stays known: what is sent late of it is free
  };

/** When a message is due once something of it is done: never when nothing is left to do (messageIsDone). */
export const whenDone = {
  $cond: [
    {
      $and: [
        { $eq: ["$outbox", []] },
        { $ne: ["$recount", true] },
        { $ne: ["$withdraws", true] },
        { $eq: [{ $type: "$unsettled" }, "missing"] },
      ],
    },
    null,
    "$due_at",
  ],
};
