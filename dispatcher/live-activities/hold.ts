import { type ActivityRecipientRow } from "#core/storage/live-activities/recipient-row.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import { deliveryIdOf, schedule, suppress } from "../messages/delivery/delivery-row.ts";
import { type ActivityDeliverDeps, attemptOf, type Sorted, type Sorting, tokenOf } from "./sorting.ts";

type Silent = { rows: readonly Reached[]; found: ReadonlyMap<string, ActivityRecipientRow> };

/**
 * Has an update wait for the tokens of devices; the one that waited there before is superseded. Each step may run twice: a
 * former update is ended before this one takes its place. A device that reports its token meanwhile is ready.
 */
export const hold = async (
  deps: Pick<ActivityDeliverDeps, "activityRecipients" | "activities" | "waiting" | "recount">,
  sorting: Sorting,
  { rows, found }: Silent,
): Promise<Sorted> => {
  if (rows.length === 0) return { ready: [], others: [] };
  const { live, work, now } = sorting;
  const messageId = work.message._id;
  const devices = rows.flatMap(({ _id }) => found.get(_id) ?? []);
  await endFormer(deps, devices, messageId, now);
  const ids = devices.map(({ _id }) => _id);
  await deps.activityRecipients.hold(ids, messageId, now);
  const current = await deps.activityRecipients.of(
    live.activity,
    rows.map(({ _id }) => _id),
  );
  const sorted: Sorted = { ready: [], others: [] };
  let firstMs = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const device = current.get(row._id);
    const attempt = attemptOf(sorting, { ...row, token: "" });
    if (device?.held_message_id === messageId) {
      firstMs = Math.min(firstMs, device.hold_until.getTime());
      sorted.others.push(schedule(attempt, device.hold_until));
    } else if (device?.token != null) sorted.ready.push(...tokenOf(row, device.token));
    else sorted.others.push(suppress(attempt, "superseded"));
  }
  if (Number.isFinite(firstMs)) await deps.activities.dueBy(live.activity, new Date(firstMs));
  return sorted;
};

/** Ends the deliveries of updates that wait for these devices and are older. */
const endFormer = async (
  { waiting, recount }: Pick<ActivityDeliverDeps, "waiting" | "recount">,
  devices: readonly ActivityRecipientRow[],
  messageId: string,
  now: Date,
): Promise<void> => {
  const former = devices.flatMap(({ held_message_id: held, subscription_id: id }) =>
    held !== null && held < messageId ? [{ held, deliveryId: deliveryIdOf(held, id) }] : [],
  );
  if (former.length === 0) return;
  await waiting.end(
    former.map(({ deliveryId }) => deliveryId),
    "superseded",
    now,
  );
  await recount([...new Set(former.map(({ held }) => held))], now);
};
