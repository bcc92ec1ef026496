import { activityTtlSeconds } from "#core/channels/ios-push/live-activity.ts";
import type { Clock } from "#core/domain/clock.ts";
import { newId } from "#core/domain/ids.ts";
import { mayBeUrgent, spentWith } from "#core/domain/live-activities/budget.ts";
import { channelsOfPlatforms, startedOver } from "#core/domain/live-activities/platforms.ts";
import { AppError, NotFound } from "#core/errors.ts";
import type {
  EndLiveActivity,
  LiveActivitySend,
  LiveActivitySendResult,
  StartLiveActivity,
  UpdateLiveActivity,
} from "#core/schema/live-activities/send.ts";
import type { Target } from "#core/schema/messages/notification.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type Activities, activityKey, type LiveActivityRow } from "#core/storage/live-activities/activities.ts";
import type { ActivityChannelRow, ActivityChannels } from "#core/storage/live-activities/channels.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import type { LiveActivityMessages } from "#core/storage/messages/live-activities.ts";
import type { MessageActivity, MessageRow } from "#core/storage/messages/message-row.ts";
import { noWork } from "#core/storage/work/due.ts";
import { configuredOf, requireChannels } from "../accepting/audience.ts";
import { type Estimate, missingOf } from "../accepting/estimate.ts";
import {
  type AskedMessage,
  type Begun,
  messageOf,
  remembered,
  type Stored,
  type StoringDeps,
  storeNew,
} from "../accepting/storing.ts";
import { alertContent, checkSize, checkStart, checkState, plainMembers } from "./draft.ts";

export type SendDeps = StoringDeps & {
  activities: Pick<Activities, "insert" | "find" | "prolong" | "spend">;
  channels: Pick<ActivityChannels, "take">;
  sent: Pick<LiveActivityMessages, "newest">;
  /** Whom a start would reach. */
  estimate: (place: Place, channels: readonly Channel[], target: Target) => Promise<Estimate>;
  /** How many an update goes to, of which a broadcast channel is one; exact up to 100,000. */
  countRecipients: (activity: LiveActivityRow) => Promise<number>;
  clock: Clock;
};

export type Place = { app: AppRow; type: LiveActivityTypeRow };

type Asked<Body> = Omit<AskedMessage, "operation" | "fingerprint"> & {
  type: LiveActivityTypeRow;
  body: Body;
  fingerprint: string;
};

export type Answered = Omit<Stored, "row"> & { result: LiveActivitySendResult };

/** Apple ends an activity after 8 hours; a start may reach its device up to 4 hours late (activityTtlSeconds). */
const lastsMs = 12 * 3_600_000;

/**
 * Starts an activity on the devices of a target: on iOS on those that have a push-to-start token for its type. One that is
 * running gets them in addition. @throws AppError HS_CONFLICT for one that has ended, or is of another type
 */
export const start =
  (deps: SendDeps) =>
  async (given: Asked<StartLiveActivity>, signal: AbortSignal): Promise<Answered> => {
    const { app, type, body } = given;
    const asked = { ...given, operation: "startLiveActivity" };
    checkStart(type, body);
    const { attributes = {}, content_state, target } = body;
    const activityId = body.activity_id ?? newId("liveActivity", deps.clock.now());
    const change = { event: "start" as const, body, content_state, priority: body.priority ?? (10 as const) };
    const live = { ...liveOf(type, activityId, change), attributes };
    const channels = channelsOfPlatforms(type.platforms);
    const sized = { content: alertContent(body), channels, at: deps.clock.now() };
    checkSize(body.channel === true ? { ...live, channel: anyChannel } : live, sized);
    const counted = deps.estimate(given, channels, target);
    const [before, estimate] = await Promise.all([remembered(deps, asked, signal), counted]);
    if (before !== null) return answerOf(before);
    requireAccounts(app, channels);
    const { activity, newest } = await begin(deps, given, activityId);
    const { channel } = activity;
    const make = (begun: Begun): MessageRow => ({
      ...rowOf(asked, begun, { ...live, ...(channel && { channel }) }, channels),
      accepted: { recipients_estimate: estimate.recipients, ...missingOf(estimate) },
      target,
    });
    const after = newest?.created_at ?? null;
    return answerOf(await storeNew(deps, asked, { count: estimate.recipients, make, after }, signal));
  };

/** Apple's ids of channels are 16 bytes in base64. */
const anyChannel = { id: "", apns_channel_id: "x".repeat(24), stores_latest: true };

/** Stores the activity before the message that starts it. */
const begin = async (
  { activities, channels, sent, clock }: SendDeps,
  { app, type, body: { attributes = {}, channel: isBroadcast = false } }: Asked<StartLiveActivity>,
  activityId: string,
): Promise<Running> => {
  const now = clock.now();
  const place = { tenantId: app.tenant_id, appId: app._id, typeId: type._id };
  const channel = isBroadcast ? await channels.take(place, activityId, now) : null;
  if (isBroadcast && channel === null)
    throw new AppError("HS_CONFLICT", "the type has no broadcast channel that is ready", { status: "no_channel" });
  const endsAt = new Date(now.getTime() + lastsMs);
  const over = channelsOfPlatforms(type.platforms);
  const row: LiveActivityRow = {
    ...noWork,
    _id: activityKey(app._id, activityId),
    tenant_id: app.tenant_id,
    app_id: app._id,
    type_id: type._id,
    activity_id: activityId,
    status: "running",
    attributes,
    channels: over,
    ends_at: endsAt,
    ended_at: null,
    ended_by: null,
    ...(channel !== null && { channel: channelOf(channel) }),
    sender: null,
    turns: 0,
    created_at: now,
    updated_at: now,
    due_at: endsAt,
  };
  if (await activities.insert(row)) return { activity: row, newest: null };
  const running = await runningOf({ activities, sent }, { app, type }, activityId);
  const { activity } = running;
  if (isBroadcast && activity.channel === undefined)
    throw new AppError("HS_CONFLICT", "the live activity was started without a channel", { status: "running" });
  await activities.prolong(row._id, [...startedOver(activity), ...over], endsAt);
  return running;
};

const channelOf = ({ _id, apns_channel_id, stores_latest }: ActivityChannelRow) => ({
  id: _id,
  apns_channel_id: apns_channel_id ?? "",
  stores_latest,
});

/** Sends a new state to every device that the activity is on. @throws NotFound, AppError HS_CONFLICT when it has ended */
export const update =
  (deps: SendDeps) =>
  (given: Asked<UpdateLiveActivity>, signal: AbortSignal): Promise<Answered> =>
    change(deps, { ...given, operation: "updateLiveActivity" }, signal, ({ body, type }, { spent = null }) => {
      const isUrgent = mayBeUrgent(spent, type.frequent_updates === true, deps.clock.now());
      return { event: "update", content_state: body.content_state, priority: body.priority ?? (isUrgent ? 10 : 5) };
    });

/** Ends the activity on every device, with its last state unless another is given. */
export const end =
  (deps: SendDeps) =>
  (given: Asked<EndLiveActivity>, signal: AbortSignal): Promise<Answered> =>
    change(deps, { ...given, operation: "endLiveActivity" }, signal, ({ body }, _, newest) => ({
      event: "end",
      content_state: body.content_state ?? newest?.live_activity?.content_state ?? {},
      priority: body.priority ?? 10,
    }));

type Change = Pick<MessageActivity, "event" | "content_state" | "priority">;

const change = async <Body extends UpdateLiveActivity | EndLiveActivity>(
  deps: SendDeps,
  asked: Asked<Body> & { operation: string },
  signal: AbortSignal,
  decide: (asked: Asked<Body>, activity: LiveActivityRow, newest: MessageRow | null) => Change,
): Promise<Answered> => {
  const { app, type, body } = asked;
  if (body.content_state !== undefined) checkState(type, body.content_state);
  const before = await remembered(deps, asked, signal);
  if (before !== null) return answerOf(before);
  const { activity, newest } = await runningOf(deps, asked, body.activity_id);
  const { channel, attributes } = activity;
  const channels = startedOver(activity);
  requireAccounts(app, channels);
  const decided = liveOf(type, body.activity_id, { ...decide(asked, activity, newest), body });
  const whole = channels.includes("android_push") && { attributes }; // Android's pushes: see core/channels/android-push
  const live = { ...decided, ...whole, ...(channel && { channel }) };
  checkSize(live, { content: alertContent(body), channels, at: deps.clock.now() });
  const count = await deps.countRecipients(activity);
  const make = (begun: Begun): MessageRow => ({
    ...rowOf(asked, begun, live, channels),
    accepted: { recipients_estimate: count, external_id_missing: [] },
  });
  const stored = await storeNew(deps, asked, { count, make, after: newest?.created_at ?? null }, signal);
  if (live.event === "update" && live.priority === 10)
    await deps.activities.spend(activity._id, spentWith(activity.spent ?? null, deps.clock.now()));
  return answerOf(stored);
};

type Running = { activity: LiveActivityRow; newest: MessageRow | null };

/** An activity that is running, and its newest message. @throws NotFound, AppError HS_CONFLICT */
const runningOf = async (
  { activities, sent }: Pick<SendDeps, "sent" | "activities">,
  { app, type }: Place,
  activityId: string,
): Promise<Running> => {
  const activity = await activities.find(app.tenant_id, app._id, activityId);
  if (activity === null) throw new NotFound("live activity");
  if (activity.type_id !== type._id) {
    const details = { status: activity.status, activity_type: activity.type_id };
    throw new AppError("HS_CONFLICT", "the live activity is of another type", details);
  }
  const newest = await sent.newest(activity._id);
  if (activity.status === "running" && newest?.live_activity?.event !== "end") return { activity, newest };
  throw new AppError("HS_CONFLICT", "the live activity has ended", { status: "ended" });
};

const requireAccounts = (app: AppRow, channels: readonly Channel[]): void =>
  requireChannels({ channels, channelsAsked: channels }, configuredOf(app, { channels }));

const liveOf = (
  { _id: type_id, name: type_name, app_id }: LiveActivityTypeRow,
  activity_id: string,
  { body, ...change }: Change & { body: LiveActivitySend },
): MessageActivity => ({
  activity: activityKey(app_id, activity_id),
  activity_id,
  type_id,
  type_name,
  ...change,
  ...plainMembers(body),
});

const rowOf = (
  asked: AskedMessage & { body: LiveActivitySend },
  begun: Begun,
  live: MessageActivity,
  channels: readonly Channel[],
) => ({
  ...messageOf(asked, begun),
  name: asked.body.name ?? null,
  category: "live_activity",
  content: alertContent(asked.body),
  target: {},
  channels: [...channels],
  options: { ttl: activityTtlSeconds[live.event] },
  live_activity: live,
});

const answerOf = ({ row: { _id, live_activity: live, accepted }, ...repeat }: Stored): Answered => {
  if (live === undefined) throw new Error(`${_id} is not of a live activity`); // its operation is
  const { external_id_missing, missing, recipients_estimate } = accepted;
  const result = { message_id: _id, activity_id: live.activity_id, event: live.event, recipients_estimate };
  const missed = live.event === "start" ? { external_id_missing, ...(missing && { missing }) } : {};
  return { result: { ...result, ...missed }, ...repeat };
};
