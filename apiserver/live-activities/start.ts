import { derivedId, newId } from "#core/domain/ids.ts";
import { channelsOfPlatforms, startedOver } from "#core/domain/live-activities/platforms.ts";
import { meantBy as meantTarget } from "#core/domain/messages/neutral.ts";
import { AppError } from "#core/errors.ts";
import type { StartLiveActivity } from "#core/schema/live-activities/requests.ts";
import { activityKey, type LiveActivityRow, unsentAfter } from "#core/storage/live-activities/activities.ts";
import type { ActivityChannelRow } from "#core/storage/live-activities/channels.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { noWork } from "#core/storage/work/due.ts";
import { acceptMessage, type BegunMessage } from "../accepting/accept-message.ts";
import { type Estimate, missingOf } from "../audience/estimate.ts";
import { checkSize, checkStart, startContent } from "./draft.ts";
import {
  type ActivityRequest,
  type ActivitySendDeps,
  type Answered,
  answerOf,
  type Known,
  known,
  liveOf,
  requireAccounts,
  requireRunning,
  rowOf,
} from "./update-or-end.ts";

/** Apple ends an activity after 8 hours; a start may reach its device up to 4 hours late (activityTtlSeconds). */
export const lastsHours = 12;

type Start = ActivityRequest<StartLiveActivity>;

/**
 * Starts an activity on the devices of a target: on iOS on those that have a push-to-start token for its type. One that is
 * running gets them in addition. @throws AppError HS_CONFLICT for one that has ended, or is of another type
 */
export const start =
  (deps: ActivitySendDeps) =>
  async (given: Start, signal: AbortSignal): Promise<Answered> => {
    const { app, type, body } = given;
    const asked = { ...given, operation: "startLiveActivity" };
    checkStart(type, body);
    const meant = await meantBy(deps, given); // before the key is looked for: what had used it is there then
    const { attributes = {}, content_state, target } = body;
    const change = { event: "start" as const, body, content_state, priority: body.priority ?? (10 as const) };
    const live = { ...liveOf(type, meant.activityId, change), attributes };
    const channels = channelsOfPlatforms(type.platforms);
    const content = startContent(body, channels, app);
    const sized = { content, channels, at: deps.clock.now() };
    checkSize(body.channel === true ? { ...live, channel: anyChannel } : live, sized);
    const aim = await deps.aimOf(app._id, meantTarget(target));
    const plan = {
      estimate: () => deps.estimate(given, channels, { target, aim }),
      decide: async (estimate: Estimate) => {
        requireAccounts(app, channels);
        if (meant.found !== null) requireJoinable(given, meant.found);
        const rowOfStart = async (begun: BegunMessage): Promise<MessageRow> => {
          const { channel } = await begin(deps, given, meant);
          return {
            ...rowOf(asked, begun, { ...live, ...(channel && { channel }) }, channels),
            accepted: { recipients_estimate: estimate.recipients, ...missingOf(estimate) },
            content,
            target,
            ...(aim !== null && { aim, segment_ids: aim.segments.map(({ _id }) => _id) }),
          };
        };
        const after = meant.found?.newest?.created_at ?? null;
        return { recipients: estimate.recipients, rowOf: rowOfStart, after };
      },
    };
    return answerOf(await acceptMessage(deps, asked, plan, signal));
  };

/** Apple's ids of channels are 16 bytes in base64. */
const anyChannel = { id: "", apns_channel_id: "x".repeat(24), stores_latest: true };

type Meant = { activityId: string; found: Known | null };

/**
 * The activity that a start names. Without a name it follows from the key, so that a start that was cut short is taken up
 * by its repeat; a key that was used long ago names another one.
 */
const meantBy = async (deps: ActivitySendDeps, { app, body, key }: Start): Promise<Meant> => {
  const fresh = { activityId: newId("liveActivity", deps.clock.now()), found: null };
  if (body.activity_id !== undefined)
    return { activityId: body.activity_id, found: await known(deps, { app }, body.activity_id) };
  if (key === undefined) return fresh;
  const activityId = derivedId("liveActivity", app._id, "start", key);
  const found = await known(deps, { app }, activityId);
  if (found === null) return { activityId, found };
  const { _id, status } = found.activity;
  const isCutShort = status === "running" && (await deps.sent.latest(_id, 1)).length === 0;
  return isCutShort ? { activityId, found } : fresh;
};

/** @throws AppError HS_CONFLICT for an activity that the start cannot add devices to */
const requireJoinable = ({ type, body }: Pick<Start, "type" | "body">, found: Known): void => {
  requireRunning(type, found);
  if (body.channel === true && found.activity.channel === undefined)
    throw new AppError("HS_CONFLICT", "the live activity was started without a channel", { status: "running" });
};

/**
 * Stores the activity before the message that starts it. What a kill in between leaves is taken away by the jobs of the
 * activity and its channel.
 */
const begin = async (deps: ActivitySendDeps, given: Start, { activityId, found }: Meant): Promise<LiveActivityRow> => {
  if (found !== null) return join(deps, given, found);
  const now = deps.clock.now();
  const channel = given.body.channel === true ? await takeChannel(deps, given, activityId, now) : null;
  const row = activityOf(given, activityId, channel, now);
  if (await deps.activities.insert(row)) return row;
  const other = await known(deps, given, activityId); // another start was faster
  if (channel !== null && other?.activity.channel?.id !== channel._id) await deps.channels.recheck(channel._id, now);
  if (other === null) throw ended();
  requireJoinable(given, other);
  return join(deps, given, other);
};

const join = async (
  { activities, clock }: ActivitySendDeps,
  { type: { platforms } }: Start,
  { activity }: Known,
): Promise<LiveActivityRow> => {
  const over = [...startedOver(activity), ...channelsOfPlatforms(platforms)];
  const now = clock.now();
  if (!(await activities.prolong(activity._id, over, { now, endsAt: endsAfter(now) }))) throw ended();
  return activity;
};

const ended = (): AppError => new AppError("HS_CONFLICT", "the live activity has ended", { status: "ended" });

const endsAfter = (now: Date): Date => new Date(now.getTime() + lastsHours * 3_600_000);

/** @throws AppError HS_CONFLICT when none is ready */
const takeChannel = async (
  { channels }: ActivitySendDeps,
  { app, type }: Start,
  activityId: string,
  now: Date,
): Promise<ActivityChannelRow> => {
  const place = { ...ofApp(app), typeId: type._id };
  const channel = await channels.take(place, activityId, now);
  if (channel === null)
    throw new AppError("HS_CONFLICT", "the type has no broadcast channel that is ready", { status: "no_channel" });
  return channel;
};

const activityOf = (
  { app, type, body: { attributes = {} } }: Start,
  activityId: string,
  channel: ActivityChannelRow | null,
  now: Date,
): LiveActivityRow => ({
  ...noWork,
  _id: activityKey(app._id, activityId),
  tenant_id: app.tenant_id,
  app_id: app._id,
  type_id: type._id,
  activity_id: activityId,
  status: "running",
  attributes,
  channels: channelsOfPlatforms(type.platforms),
  ends_at: endsAfter(now),
  ended_at: null,
  ended_by: null,
  ...(channel !== null && { channel: channelOf(channel) }),
  sender: null,
  turns: 0,
  created_at: now,
  updated_at: now,
  due_at: unsentAfter(now),
});

const channelOf = ({ _id, apns_channel_id, stores_latest }: ActivityChannelRow) => ({
  id: _id,
  apns_channel_id: apns_channel_id ?? "",
  stores_latest,
});
