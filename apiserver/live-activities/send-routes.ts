import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { startedOver } from "#core/domain/live-activities/platforms.ts";
import type { MessageAim } from "#core/domain/segments/aim.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { OkReply } from "#core/schema/json/error.ts";
import { LiveActivity, LiveActivitySwift } from "#core/schema/live-activities/activity.ts";
import {
  EndLiveActivity,
  LiveActivitySendResult,
  LiveActivityToken,
  StartLiveActivity,
  UpdateLiveActivity,
} from "#core/schema/live-activities/requests.ts";
import type { Target } from "#core/schema/messages/notification.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import { activities as activityStore, type LiveActivityRow } from "#core/storage/live-activities/activities.ts";
import { activityChannels } from "#core/storage/live-activities/channels.ts";
import { activityRecipients, type OfActivity } from "#core/storage/live-activities/recipients.ts";
import { startTokens as tokenStore } from "#core/storage/live-activities/start-tokens.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { liveActivityMessages } from "#core/storage/messages/live-activities.ts";
import { messages as messageStore } from "#core/storage/messages/messages.ts";
import { targets as targetStore } from "#core/storage/messages/targets.ts";
import { usage } from "#core/storage/messages/usage.ts";
import { type OfApp, ofApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { subscriptions as subscriptionStore } from "#core/storage/people/subscriptions.ts";
import { appSegments } from "#core/storage/segments/segments.ts";
import type { CountAccepted } from "../accepting/accept-message.ts";
import { aimOf } from "../audience/aim.ts";
import { audienceOf } from "../audience/audience.ts";
import { counting } from "../audience/counting.ts";
import { type Estimate, type EstimateDeps, estimate } from "../audience/estimate.ts";
import { fingerprintOf, idempotencyKey, repeatHeaders } from "../http/idempotency-key.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { done, type Located, type Request, routeOf } from "../http/route.ts";
import { quota } from "../limits/quota.ts";
import type { MessageHints } from "../publishing/message-hints.ts";
import { activityView, type Shown } from "./activity-view.ts";
import { deviceCounts } from "./device-counts.ts";
import { activityTokens } from "./device-tokens.ts";
import { start } from "./start.ts";
import { putToken, removeToken } from "./tokens.ts";
import { type Answered, end, type Place, update } from "./update-or-end.ts";
import { swiftView } from "./views.ts";

export type SendPlatform = {
  db: Db;
  secrets: Pick<KeyRing, "seal" | "open">;
  clock: Clock;
  log: Log;
  countAccepted: CountAccepted;
  hints: MessageHints;
  settings: { firstDayMessages: number };
};

export type FindType = (of: OfApp, idOrName: string) => Promise<LiveActivityTypeRow | null>;

const mostShown = 50; // messages of an activity's history

/** Estimates are exact up to here. */
const mostExact = 100_000;

/** What is sent of live activities, and the tokens that it is sent to. */
export const sends = (platform: SendPlatform, findType: FindType) => {
  const { db, clock, hints, settings } = platform;
  const [messages, startTokens] = [messageStore(db), tokenStore(db)];
  const [activities, recipients] = [activityStore(db), activityRecipients(db)];
  const statesOf = deviceCounts({ recipients, clock });
  const deps = {
    messages,
    activities,
    channels: activityChannels(db),
    sent: liveActivityMessages(db),
    estimate: startEstimate(platform),
    aimOf: aimOf({ segments: appSegments(db) }),
    countRecipients: recipientCount(statesOf),
    quota: quota({ usage: usage(db), stored: messages.stored, ...settings }),
    publish: hints.message,
    count: platform.countAccepted,
    clock,
  };
  const show = async ({ app_id: appId, _id }: LiveActivityRow): Promise<Omit<Shown, "activity">> => {
    const [sent, states] = await Promise.all([deps.sent.latest(_id, mostShown), statesOf({ appId, activity: _id })]);
    return { sent, recipients: states };
  };
  const ofTokens = { findType, startTokens, activities, recipients, clock };
  return {
    findSubscription: subscriptionStore(db).find,
    start: start(deps),
    updateActivity: update(deps),
    end: end(deps),
    findActivity: activities.find,
    show,
    putToken: putToken(ofTokens),
    removeToken: removeToken(ofTokens),
    ofDevice: activityTokens(ofTokens),
  };
};

/** Counts whom an update goes to: for each broadcast channel Apple is asked once, whoever is subscribed. */
const recipientCount = (statesOf: ReturnType<typeof deviceCounts>) => {
  const count = async (of: OfActivity): Promise<number> => {
    const { starting = 0, active = 0 } = await statesOf(of);
    return starting + active;
  };
  return async ({ _id, app_id, channel, ...activity }: LiveActivityRow): Promise<number> => {
    const of = { appId: app_id, activity: _id };
    if (channel === undefined) return count(of);
    return startedOver(activity).includes("android_push") ? 1 + (await count({ ...of, channel: "android_push" })) : 1;
  };
};

/** Counts whom a start reaches: of a target, on iOS those who have a push-to-start token for the type. */
const startEstimate = ({ db, secrets, clock, log }: SendPlatform) => {
  const [targets, tokens] = [targetStore(db), tokenStore(db)];
  const counted = counting({ db, secrets, clock, log });
  return (
    { app, type: { _id: typeId } }: Place,
    channels: readonly Channel[],
    { target, aim }: { target: Target; aim: MessageAim | null },
  ): Promise<Estimate> => {
    const unreached: EstimateDeps["findSuppressed"] = async (of, traits, rows) => {
      const devices = rows.filter(({ channel }) => channel === "ios_push").map(({ _id }) => _id);
      const [suppressed, known] = await Promise.all([
        counted.findSuppressed(of, traits, rows),
        tokens.of(typeId, devices),
      ]);
      return new Set([...suppressed.keys(), ...devices.filter((id) => !known.has(id))]);
    };
    const count = estimate({
      ...counted,
      targets,
      countAll: (of) =>
        of.reach.some(({ channel }) => channel === "ios_push")
          ? tokens.count({ appId: of.appId, typeId }, mostExact)
          : counted.countAll(of),
      findSuppressed: unreached,
    });
    return count(audienceOf(app, { target, category: "live_activity", options: {} }, channels), target, {
      aimed: aim && { aim, at: clock.now() },
    });
  };
};

type Use = ReturnType<typeof sends> & { find: FindType };

const base = "/v1/apps/{appId}/live-activities";

const route = routeOf<Use>({ tag: "Live activities", scopes: ["notifications:write"] });

/** The type that the path names. */
export const typeOfPath = async (located: Located<Pick<Use, "find">>): Promise<LiveActivityTypeRow> => {
  const of = ofApp(await appOfPath(located));
  return existing(await located.use.find(of, located.params["activityType"] ?? ""), "live activity type");
};

const placeOfPath = async (located: Located<Use>): Promise<Place> => ({
  type: await typeOfPath(located),
  app: await appOfPath(located),
});

const subscriptionOfPath = async (located: Located<Use>): Promise<SubscriptionRow> => {
  const of = ofApp(await appOfPath(located));
  const id = located.params["subscriptionId"] ?? "";
  return existing(await located.use.findSubscription(of, id), "subscription");
};

const askedOf = <B>({ caller, body, resource, header, traceparent }: Request<Use, B, unknown, Place>) => ({
  caller,
  ...resource,
  body,
  key: idempotencyKey(header("Idempotency-Key"), undefined),
  fingerprint: fingerprintOf({ ...body, activity_type: resource.type._id }),
  traceparent,
});

const answered = async (sent: Promise<Answered>) => {
  const { result, ...repeat } = await sent;
  return { body: result, headers: repeatHeaders(repeat) };
};

const sending = {
  method: "POST" as const,
  status: [202] as const,
  headers: { "Idempotency-Key": "the same key within 24 hours gives the first reply again; errors do not use it up" },
  errors: [
    "HS_CHANNEL_NOT_CONFIGURED",
    "HS_CONFLICT",
    "HS_IDEMPOTENCY_KEY_REUSED",
    "HS_IDEMPOTENCY_IN_PROGRESS",
    "HS_QUOTA_EXCEEDED",
  ] as const,
  reply: LiveActivitySendResult,
  locate: placeOfPath,
};

const tokens = {
  path: "/v1/apps/{appId}/subscriptions/{subscriptionId}/live-activity-tokens",
  scopes: ["admin"] as const,
  errors: ["HS_CONFLICT"] as const,
  body: LiveActivityToken,
  reply: OkReply,
  locate: subscriptionOfPath,
};

/** The activity that the path names, of the type that it names. */
const activityOfPath = async (
  located: Located<Use>,
): Promise<{ activity: LiveActivityRow; type: LiveActivityTypeRow }> => {
  const type = await typeOfPath(located);
  const found = await located.use.findActivity(ofRow(type), located.params["activityId"] ?? "");
  const activity = existing(found, "live activity");
  return { activity: existing(activity.type_id === type._id ? activity : null, "live activity"), type };
};

export const sendRoutes = [
  route({
    id: "getLiveActivity",
    method: "GET",
    path: `${base}/{activityType}/activities/{activityId}`,
    summary: "Show a live activity: its state, its devices and what was sent of it",
    scopes: ["notifications:write", "analytics:read"],
    reply: LiveActivity,
    locate: activityOfPath,
    handle: async ({ use, resource: { activity, type } }) => ({
      body: activityView({ activity, ...(await use.show(activity)) }, type.name),
    }),
  }),

  route({
    id: "getLiveActivitySwift",
    method: "GET",
    path: `${base}/types/{activityType}/swift`,
    summary: "Make the Swift struct of a live activity type",
    scopes: ["admin"],
    reply: LiveActivitySwift,
    locate: typeOfPath,
    handle: async ({ resource }) => ({ body: swiftView(resource) }),
  }),

  route({
    ...sending,
    id: "startLiveActivity",
    path: `${base}/{activityType}/start`,
    summary: "Start a live activity, or add devices to a running one",
    body: StartLiveActivity,
    feature: "live_activities",
    handle: (request) => answered(request.use.start(askedOf(request), request.signal)),
  }),

  route({
    ...sending,
    id: "updateLiveActivity",
    path: `${base}/{activityType}/update`,
    summary: "Send a new state to every device that a live activity is on",
    body: UpdateLiveActivity,
    handle: (request) => answered(request.use.updateActivity(askedOf(request), request.signal)),
  }),

  route({
    ...sending,
    id: "endLiveActivity",
    path: `${base}/{activityType}/end`,
    summary: "End a live activity on every device",
    body: EndLiveActivity,
    handle: (request) => answered(request.use.end(askedOf(request), request.signal)),
  }),

  route({
    ...tokens,
    id: "putLiveActivityToken",
    method: "PUT",
    summary: "Store a token that a device reported",
    handle: ({ use, body, resource }) => done(use.putToken(resource, body)),
  }),

  route({
    ...tokens,
    id: "deleteLiveActivityToken",
    method: "DELETE",
    summary: "Forget a token that a device reported",
    handle: ({ use, body, resource }) => done(use.removeToken(resource, body)),
  }),
];
