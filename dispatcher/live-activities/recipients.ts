import type { ActivityRecipientRow } from "#core/storage/live-activities/recipient-row.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageActivity, MessageRow } from "#core/storage/messages/message-row.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { suppress } from "../messages/delivery/delivery-row.ts";
import type { Delivered, Work } from "../messages/delivery/work.ts";
import type { Strategy } from "../messages/strategy.ts";
import { hold } from "./hold.ts";
import { type ActivityDeliverDeps, attemptOf, type Sorted, type Sorting, subscriber, tokenOf } from "./sorting.ts";

/**
 * Whom a piece of a live activity's message is sent to: on iOS over the tokens of the activity instead of the device's own.
 * A device that has not reported one yet is waited for.
 */
export const activityRecipientsOf =
  (deps: ActivityDeliverDeps): Strategy["recipientsOf"] =>
  async (work) => {
    const { live_activity: live } = work.message;
    if (live === undefined) return { work, others: [] };
    const broadcast = broadcastOf(work, live);
    if (broadcast !== undefined && live.is_superseded !== true) {
      return { work: { ...work, rows: [subscriber(broadcast)] }, others: [] };
    }
    const rows =
      broadcast === undefined
        ? (work.rows ?? (await deps.recipients.load(work.chunk.recipients)))
        : [subscriber(broadcast)];
    const { ready, others, message = work.message } = await sort(deps, { work, live, rows, now: deps.clock.now() });
    return { work: { ...work, message, rows: ready }, others };
  };

/**
 * Notes where the activity was not started, was ended, or is gone: the provider knows the token no more. On iOS that says
 * nothing of the subscription.
 */
export const afterActivity =
  (deps: ActivityDeliverDeps): Strategy["after"] =>
  async (work, delivered) => {
    const { live_activity: live } = work.message;
    if (live === undefined) return delivered.invalid;
    const isSentToChannel = broadcastOf(work, live) !== undefined && live.is_superseded !== true;
    if (!isSentToChannel) await follow(deps, live, work, delivered);
    return isOnIos(work) ? [] : delivered.invalid;
  };

/** The channel that stands for all devices of iOS, but for a start. */
const broadcastOf = (work: Work, live: MessageActivity): MessageActivity["channel"] =>
  isOnIos(work) && live.event !== "start" ? live.channel : undefined;

/** There an activity has tokens of its own; on Android it goes to the address of the subscription. */
const isOnIos = ({ chunk }: Work): boolean => chunk.channel === "ios_push";

const sort = (deps: ActivityDeliverDeps, sorting: Sorting): Promise<Sorted> | Sorted => {
  const { live, rows } = sorting;
  if (live.is_superseded === true)
    return { ready: [], others: rows.map((row) => suppress(attemptOf(sorting, row), "superseded")) };
  return live.event === "start" ? sortStart(deps, sorting) : sortChange(deps, sorting);
};

/**
 * A start is written down before it is sent, and then a newer state is looked for: an update that began earlier has
 * looked for its devices too soon, so that they start with its state; one that begins later finds them.
 */
const sortStart = async (deps: ActivityDeliverDeps, sorting: Sorting): Promise<Sorted> => {
  const { work, live, now } = sorting;
  const { message } = work;
  const rows = sorting.rows.filter(({ status }) => status === "subscribed");
  const able = isOnIos(work) ? await withStartTokens(deps, live, rows) : rows;
  const start = { ...ofRow(message), activity: live.activity };
  const { channel } = work.chunk;
  const ours = await deps.activityRecipients.claim({ ...start, channel, messageId: message._id, now }, able);
  const ready = able.filter(({ _id }) => ours.has(_id));
  const started = able.filter(({ _id }) => !ours.has(_id));
  const others = started.map((row) => suppress(attemptOf(sorting, row), "already_started"));
  const newer = await deps.sent.newerBegun(message);
  if (newer?.live_activity === undefined) return { ready, others };
  if (newer.live_activity.event === "end") {
    const late = ready.map((row) => suppress(attemptOf(sorting, row), "superseded"));
    return { ready: [], others: [...others, ...late] };
  }
  return { ready, others, message: await withState(deps, sorting, ready, { ...newer, live: newer.live_activity }) };
};

const withStartTokens = async (
  { startTokens }: ActivityDeliverDeps,
  { type_id: typeId }: MessageActivity,
  rows: readonly Reached[],
): Promise<Reached[]> => {
  const tokens = await startTokens.of(
    typeId,
    rows.map(({ _id }) => _id),
  );
  return rows.flatMap((row) => tokenOf(row, tokens.get(row._id)));
};

type Newer = MessageRow & { live: MessageActivity };

/**
 * The start with a newer state. Where that does not fit beside the attributes and the alert, the state waits for the
 * devices' tokens; on Android the newer push takes the place of the start's, as it is whole.
 */
const withState = async (
  deps: ActivityDeliverDeps,
  { work, live, now }: Sorting,
  ready: readonly Reached[],
  newer: Newer,
): Promise<MessageRow> => {
  const { message } = work;
  const changed = { ...live, content_state: newer.live.content_state };
  if (deps.fits(changed, work)) return { ...message, live_activity: changed };
  if (!isOnIos(work)) return { ...message, content: newer.content, live_activity: { ...newer.live, event: "start" } };
  if (live.channel !== undefined) return message; // Apple gives them what the channel keeps
  const found = await deps.activityRecipients.of(
    live.activity,
    ready.map(({ _id }) => _id),
  );
  const devices = [...found.values()];
  await deps.activityRecipients.hold(
    devices.map(({ _id }) => _id),
    newer._id,
    now,
  );
  for (const { hold_until: until } of devices.slice(0, 1)) await deps.activities.dueBy(live.activity, until);
  return message;
};

const sortChange = async (deps: ActivityDeliverDeps, sorting: Sorting): Promise<Sorted> => {
  const { work, live, rows, now } = sorting;
  const found = await deps.activityRecipients.of(
    live.activity,
    rows.map(({ _id }) => _id),
  );
  if (!isOnIos(work)) return { ready: rows.filter(({ _id }) => found.get(_id)?.state === "active"), others: [] };
  const ready = rows.flatMap((row) => tokenOf(row, found.get(row._id)?.token));
  const silent = rows.filter(({ _id }) => found.get(_id)?.token === null);
  if (silent.length === 0) return { ready, others: [] };
  const isWaited = ({ _id }: Reached): boolean => isAwaited(found.get(_id), now);
  const late = silent
    .filter((row) => !isWaited(row))
    .map((row) => suppress(attemptOf(sorting, row), "no_update_token"));
  const held = await hold(deps, sorting, { rows: silent.filter(isWaited), found });
  return { ready: [...ready, ...held.ready], others: [...late, ...held.others] };
};

const isAwaited = (device: ActivityRecipientRow | undefined, now: Date): boolean =>
  device?.state === "starting" && device.hold_until > now;

const follow = async (
  deps: ActivityDeliverDeps,
  { event, activity, type_id: typeId }: MessageActivity,
  work: Work,
  { stored, invalid }: Pick<Delivered, "stored" | "invalid">,
): Promise<void> => {
  const now = deps.clock.now();
  const lost = invalid.map(({ _id, token }) => ({ subscriptionId: _id, token }));
  if (event === "start") {
    if (isOnIos(work)) await deps.startTokens.removeLost(typeId, lost);
    const unsent = stored.filter(({ sent_at: at }) => at === undefined);
    return deps.activityRecipients.fail(activity, work.message._id, idsOf(unsent), now);
  }
  if (isOnIos(work)) await deps.activityRecipients.lose(activity, lost, now);
  else
    await deps.activityRecipients.loseAddresses(
      activity,
      invalid.map(({ _id }) => _id),
      now,
    );
  const ended = event === "end" ? idsOf(stored.filter(({ sent_at: at }) => at !== undefined)) : [];
  if (ended.length > 0) await deps.activityRecipients.finish(activity, ended, now);
};

const idsOf = (rows: readonly DeliveryRow[]): string[] => rows.map(({ subscription_id: id }) => id);
