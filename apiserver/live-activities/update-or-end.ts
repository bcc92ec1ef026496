import { activityTtlSeconds } from "#core/channels/ios-push/live-activity.ts";
import type { Clock } from "#core/domain/clock.ts";
import { mayBeUrgent, spentWith } from "#core/domain/live-activities/budget.ts";
import { startedOver } from "#core/domain/live-activities/platforms.ts";
import type { MessageAim } from "#core/domain/segments/aim.ts";
import { AppError, NotFound } from "#core/errors.ts";
import type {
  EndLiveActivity,
  LiveActivitySend,
  LiveActivitySendResult,
  UpdateLiveActivity,
} from "#core/schema/live-activities/requests.ts";
import type { Target } from "#core/schema/messages/notification.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type Activities, activityKey, type LiveActivityRow } from "#core/storage/live-activities/activities.ts";
import type { ActivityChannels } from "#core/storage/live-activities/channels.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import type { LiveActivityMessages } from "#core/storage/messages/live-activities.ts";
import type { MessageActivity, MessageRow } from "#core/storage/messages/message-row.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import {
  type AcceptedMessage,
  type AcceptMessageDeps,
  acceptMessage,
  type BegunMessage,
  type DecidedMessage,
  type MessageRequest,
  messageOf,
} from "../accepting/accept-message.ts";
import type { AimOf } from "../audience/aim.ts";
import { configuredOf, requireChannels } from "../audience/audience.ts";
import { type Estimate } from "../audience/estimate.ts";
import { alertContent, checkChange, checkSize, plainMembers } from "./draft.ts";

export type ActivitySendDeps = AcceptMessageDeps & {
  activities: Pick<Activities, "insert" | "find" | "prolong" | "spend">;
  channels: Pick<ActivityChannels, "take" | "recheck">;
  sent: Pick<LiveActivityMessages, "newest" | "latest">;
  /** Whom a start would reach. */
  estimate: (
    place: Place,
    channels: readonly Channel[],
    of: { target: Target; aim: MessageAim | null },
  ) => Promise<Estimate>;
  aimOf: AimOf;
  /** How many an update goes to, of which a broadcast channel is one; exact up to 100,000. */
  countRecipients: (activity: LiveActivityRow) => Promise<number>;
  clock: Clock;
};

export type Place = { app: AppRow; type: LiveActivityTypeRow };

export type ActivityRequest<Body> = Omit<MessageRequest, "operation"> & { type: LiveActivityTypeRow; body: Body };

export type Answered = Omit<AcceptedMessage, "row"> & { result: LiveActivitySendResult };

/** Sends a new state to every device that the activity is on. @throws NotFound, AppError HS_CONFLICT when it has ended */
export const update =
  (deps: ActivitySendDeps) =>
  (given: ActivityRequest<UpdateLiveActivity>, signal: AbortSignal): Promise<Answered> =>
    change(deps, { ...given, operation: "updateLiveActivity" }, signal, ({ body, type }, { spent = null }) => {
      const isUrgent = mayBeUrgent(spent, type.frequent_updates === true, deps.clock.now());
      return { event: "update", content_state: body.content_state, priority: body.priority ?? (isUrgent ? 10 : 5) };
    });

/** Ends the activity on every device, with its last state unless another is given. */
export const end =
  (deps: ActivitySendDeps) =>
  (given: ActivityRequest<EndLiveActivity>, signal: AbortSignal): Promise<Answered> =>
    change(deps, { ...given, operation: "endLiveActivity" }, signal, ({ body }, _, newest) => ({
      event: "end",
      content_state: body.content_state ?? newest?.live_activity?.content_state ?? {},
      priority: body.priority ?? 10,
    }));

type Change = Pick<MessageActivity, "event" | "content_state" | "priority">;

const change = async <Body extends UpdateLiveActivity | EndLiveActivity>(
  deps: ActivitySendDeps,
  asked: ActivityRequest<Body> & { operation: string },
  signal: AbortSignal,
  changeOf: ChangeOf<Body>,
): Promise<Answered> => {
  checkChange(asked.type, asked.body);
  const plan = {
    estimate: async () => null, // of a new message alone: a repeat is answered although its activity has ended
    decide: async () => {
      const found = await runningOf(deps, asked);
      return decidedOf(deps, asked, found, changeOf(asked, found.activity, found.newest));
    },
  };
  return answerOf(await acceptMessage(deps, asked, plan, signal));
};

type ChangeOf<Body> = (asked: ActivityRequest<Body>, activity: LiveActivityRow, newest: MessageRow | null) => Change;

/** The activity that a change names. @throws NotFound, AppError HS_CONFLICT, HS_CHANNEL_NOT_CONFIGURED */
const runningOf = async (
  deps: ActivitySendDeps,
  { app, type, body }: ActivityRequest<LiveActivitySend & { activity_id: string }>,
) => {
  const found = await known(deps, { app }, body.activity_id);
  if (found === null) throw new NotFound("live activity");
  requireRunning(type, found);
  requireAccounts(app, startedOver(found.activity));
  return found;
};

/** The message that makes a change, for every device that the activity is on. @throws ValidationError for one too large */
const decidedOf = async (
  deps: ActivitySendDeps,
  asked: ActivityRequest<LiveActivitySend & { activity_id: string }>,
  { activity, newest }: Known,
  change: Change,
): Promise<DecidedMessage> => {
  const { type, body } = asked;
  const { channel, attributes } = activity;
  const channels = startedOver(activity);
  const whole = channels.includes("android_push") && { attributes }; // each push to Android carries them
  const live = { ...liveOf(type, body.activity_id, { ...change, body }), ...whole, ...(channel && { channel }) };
  checkSize(live, { content: alertContent(body), channels, at: deps.clock.now() });
  const recipients = await deps.countRecipients(activity);
  return {
    recipients,
    rowOf: (begun) => ({
      ...rowOf(asked, begun, live, channels),
      accepted: { recipients_estimate: recipients, external_id_missing: [] },
    }),
    after: newest?.created_at ?? null,
    afterwards: () => spend(deps, activity, live),
  };
};

/** An update of priority 10 uses up some of Apple's budget. */
const spend = async (
  { activities, clock }: ActivitySendDeps,
  { _id, spent }: LiveActivityRow,
  { event, priority }: Change,
): Promise<void> => {
  if (event === "update" && priority === 10) await activities.spend(_id, spentWith(spent ?? null, clock.now()));
};

/** An activity, and its newest message that was not cancelled. */
export type Known = { activity: LiveActivityRow; newest: MessageRow | null };

/** The activity of this name; null when there is none. */
export const known = async (
  { activities, sent }: Pick<ActivitySendDeps, "sent" | "activities">,
  { app }: Pick<Place, "app">,
  activityId: string,
): Promise<Known | null> => {
  const activity = await activities.find(ofApp(app), activityId);
  return activity && { activity, newest: await sent.newest(activity._id) };
};

/** @throws AppError HS_CONFLICT for one of another type, and one that has ended */
export const requireRunning = ({ _id }: LiveActivityTypeRow, { activity, newest }: Known): void => {
  const { status, type_id: activity_type } = activity;
  if (activity_type !== _id)
    throw new AppError("HS_CONFLICT", "the live activity is of another type", { status, activity_type });
  if (status === "ended" || newest?.live_activity?.event === "end")
    throw new AppError("HS_CONFLICT", "the live activity has ended", { status: "ended" });
};

export const requireAccounts = (app: AppRow, channels: readonly Channel[]): void =>
  requireChannels({ channels, channelsAsked: channels }, configuredOf(app, { channels }));

export const liveOf = (
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

export const rowOf = (
  asked: MessageRequest & { body: LiveActivitySend },
  begun: BegunMessage,
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

export const answerOf = ({ row: { _id, live_activity: live, accepted }, ...repeat }: AcceptedMessage): Answered => {
  if (live === undefined) throw new Error(`${_id} is not of a live activity`); // its operation is
  const { external_id_missing, missing, recipients_estimate } = accepted;
  const result = { message_id: _id, activity_id: live.activity_id, event: live.event, recipients_estimate };
  const missed = live.event === "start" ? { external_id_missing, ...(missing && { missing }) } : {};
  return { result: { ...result, ...missed }, ...repeat };
};
