import type { Clock } from "#core/domain/clock.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ActivityRecipientRow } from "#core/storage/live-activities/recipient-row.ts";
import type { ActivityRecipients } from "#core/storage/live-activities/recipients.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { WaitingDeliveries } from "#core/storage/messages/waiting.ts";
import type { DeliveryCounts } from "#core/storage/usage/delivery-counts.ts";
import { chunkOf } from "../messages/cut.ts";
import { deliveryIdOf } from "../messages/delivery/delivery-row.ts";
import type { Deliver, Delivered, Work } from "../messages/delivery/work.ts";
import type { Lease } from "../work/lease.ts";
import type { InOrder } from "./in-order.ts";
import type { ActivityDeliverDeps } from "./sorting.ts";

export type SendHeldDeps = {
  recipients: ActivityDeliverDeps["recipients"];
  activityRecipients: Pick<ActivityRecipients, "release" | "lose" | "finish">;
  waiting: Pick<WaitingDeliveries, "end" | "ended">;
  recount: ActivityDeliverDeps["recount"];
  inOrder: InOrder;
  /** Delivers as usual; what it stores takes the place of deliveries that wait. */
  deliver: Deliver;
  /** False when the events could not be published now. */
  followUp: (work: Work, delivered: Delivered, lease: Lease) => Promise<boolean>;
  usage: DeliveryCounts;
  clock: Clock;
};

/** An update, and devices that it waited for and that have reported their tokens. */
export type Held = { message: MessageRow; app: AppRow; devices: readonly ActivityRecipientRow[] };

/** Sends an update to devices that it waited for. The instant to try again at; null when nothing is left. May run twice. */
export type SendHeld = (held: Held, lease: Lease) => Promise<Date | null>;

const soonMs = 5_000;

export const sendHeld =
  (deps: SendHeldDeps): SendHeld =>
  async (held, lease) => {
    const again = new Date(deps.clock.now().getTime() + soonMs);
    const result = await deps.inOrder(held.message, lease, ({ isSuperseded }, ours) =>
      isSuperseded ? drop(deps, held, "superseded") : sendNow(deps, held, ours),
    );
    return result === null || result === "again" ? again : null;
  };

type Result = "done" | "again";

const sendNow = async (deps: SendHeldDeps, { message, app, devices }: Held, lease: Lease): Promise<Result> => {
  const tokens = new Map(devices.map((device) => [device.subscription_id, device.token]));
  const found = await deps.recipients.load([...tokens.keys()]);
  const rows = found.flatMap((row): Reached[] => [{ ...row, token: tokens.get(row._id) ?? row.token }]);
  const piece = { channel: "ios_push" as const, recipients: rows.map(({ _id }) => _id), scanned: null };
  const chunk = { ...chunkOf(message, piece, 0, deps.clock.now()), may_overlap: true };
  const work = { chunk, message, app, rows };
  const delivered = await deps.deliver(work, lease);
  const { activity = "", event } = message.live_activity ?? {};
  const now = deps.clock.now();
  const lost = delivered.invalid.map(({ _id, token }) => ({ subscriptionId: _id, token }));
  await deps.activityRecipients.lose(activity, lost, now);
  const final = { ...delivered, again: [], invalid: [] };
  if (!(await deps.followUp(work, final, lease))) return "again";
  await deps.recount([message._id], now);
  await countUsage(deps, delivered.stored);
  const ended = event === "end" ? delivered.stored.filter(({ sent_at: at }) => at !== undefined) : [];
  const endedOn = ended.map(({ subscription_id: id }) => id);
  if (endedOn.length > 0) await deps.activityRecipients.finish(activity, endedOn, now);
  const isLeft = new Set(delivered.again.map(({ subscriptionId }) => subscriptionId));
  const done = devices.filter(({ subscription_id: id }) => !delivered.halted && !isLeft.has(id));
  await release(deps, message, done);
  await deps.usage.forget(message._id);
  return delivered.halted || isLeft.size > 0 ? "again" : "done";
};

const release = (
  { activityRecipients }: Pick<SendHeldDeps, "activityRecipients">,
  { _id }: Pick<MessageRow, "_id">,
  devices: readonly ActivityRecipientRow[],
): Promise<void> =>
  activityRecipients.release(
    devices.map((device) => device._id),
    _id,
  );

/** Ends what waits for these devices without sending it. */
export const drop = async (
  deps: Pick<SendHeldDeps, "waiting" | "recount" | "usage" | "activityRecipients" | "clock">,
  { message, devices }: { message: Pick<MessageRow, "_id">; devices: readonly ActivityRecipientRow[] },
  as: "superseded" | "expired",
): Promise<Result> => {
  const now = deps.clock.now();
  const ids = devices.map(({ subscription_id: id }) => deliveryIdOf(message._id, id));
  await deps.waiting.end(ids, as, now);
  await deps.recount([message._id], now);
  await countUsage(deps, await deps.waiting.ended(ids));
  await release(deps, message, devices);
  await deps.usage.forget(message._id);
  return "done";
};

/** Which devices are handled together changes from run to run: each counts by itself. */
const countUsage = async ({ usage }: Pick<SendHeldDeps, "usage">, stored: readonly DeliveryRow[]): Promise<void> => {
  await Promise.all(
    stored.map((row) => usage.count({ id: row._id, tenantId: row.tenant_id, holder: row.message_id }, [row])),
  );
};
