import { randomBytes } from "node:crypto";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import { activities, activityKey } from "#core/storage/live-activities/activities.ts";
import {
  type ActivityRecipientRow,
  activityRecipientCollection,
  recipientId,
} from "#core/storage/live-activities/recipient-row.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { aSubscription, seed } from "../../support/rows/fixtures.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { atMost, type Figure } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";
import { startPrograms } from "../programs.ts";
import type { Installation } from "../servers.ts";
import { quantiles, runLoad } from "./load.ts";

type Platform = keyof typeof channelOf;
const channelOf = { ios: "ios_push", android: "android_push" } as const;
type Size = { devices: number; seconds: number; perSecond: number };
type Activities = Size & { count: number; platform: Platform };

const whole: Size = { devices: 1_000, seconds: 60, perSecond: 10 };
const short: Size = { devices: 20, seconds: 1, perSecond: 10 };
const warmUp = 50;

/**
 * Updates of live activities that are on 1,000 devices, ten a second for a minute, by two dispatchers: of a hundred activities in
 * turn, and of one that all of them show, where an update may overtake the one before it.
 */
const measureOn =
  (platform: Platform): Measurement =>
  async (round, tell) => {
    const size = round.isShort ? short : whole;
    for (const count of [Math.min(100, size.devices), 1])
      tell(...(await round.withInstallation(async (made) => figures(made, { ...size, count, platform }))));
  };

export const measureActivityUpdates = measureOn("ios");
export const measureAndroidUpdates = measureOn("android");

const channelId = "bench";

/** An update of an activity that a million devices show over a broadcast channel: requests to Apple, and the time to the answer. */
export const measureActivityBroadcast: Measurement = async (round, tell) => {
  const devices = round.isShort ? 100 : 1_000_000;
  tell(
    ...(await round.withInstallation(async ({ system, stores }) => {
      const { apiserver } = await startPrograms({ system, stores }, 1);
      await makeType(system, apiserver);
      const channel = await readyChannel(system, apiserver);
      const call = callOf(system, apiserver);
      const target = { include_subscription_ids: [] };
      await call("POST", "/Match/start", {
        activity_id: channelId,
        content_state: {},
        target: { ...target, all: true },
        channel: true,
      });
      const { message_id: id } = await call("POST", "/Match/update", {
        activity_id: channelId,
        content_state: { step: 1 },
      });
      const message = await system.ended(String(id), 60_000);
      const deliveries = await system.db
        .collection<DeliveryRow>("deliveries")
        .find({ message_id: message._id })
        .toArray();
      const [delivery] = deliveries;
      const tookMs = (delivery?.sent_at?.getTime() ?? Number.NaN) - message.created_at.getTime();
      const how = `channel ${String(channel)}; ${devices} devices or any other number: Apple alone knows who is subscribed`;
      return [
        {
          name: "live activity broadcast, requests",
          reach: atMost(1),
          value: deliveries.length,
          unit: "requests",
          how,
        },
        { name: "live activity broadcast", reach: atMost(500), value: tookMs, unit: "ms", how },
      ];
    })),
  );
};

const callOf =
  (system: System, apiserver: SystemProgram) =>
  async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const reply = await fetch(`${apiserver.url}/v1/apps/${system.app._id}/live-activities${path}`, {
      method,
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as Record<string, unknown>; // every reply is an object
  };

const readyChannel = async (system: System, apiserver: SystemProgram): Promise<unknown> => {
  const call = callOf(system, apiserver);
  const { id } = await call("POST", "/types/Match/channels", {});
  const isReady = async (): Promise<boolean> => {
    const { data } = await call("GET", "/types/Match/channels");
    return (data as { id: string; status: string }[]).some((one) => one.id === id && one.status === "ready");
  };
  await until(isReady, 30_000);
  return id;
};

const figures = async ({ system, stores, giveAndroid }: Installation, activities: Activities): Promise<Figure[]> => {
  const { devices, seconds, perSecond, count, platform } = activities;
  if (platform === "android") await giveAndroid(system);
  const { apiserver } = await startPrograms({ system, stores }, 2);
  await makeType(system, apiserver, platform);
  const names = await showing(system, activities);
  const load = {
    url: `${apiserver.url}/v1/apps/${system.app._id}/live-activities/Match/update`,
    connections: 16,
    headers: { authorization: `Bearer ${system.token}` },
    body: (n: number): string => JSON.stringify({ activity_id: names[n % count], content_state: { step: n } }),
    status: 202,
  };
  await runLoad({ ...load, requests: Math.min(warmUp, seconds * perSecond), perSecond });
  await allEnded(system);
  const after = await newestId(system);
  const { failures } = await runLoad({ ...load, requests: seconds * perSecond, perSecond });
  if (Object.keys(failures).length > 0) throw new Error(`answers other than 202: ${JSON.stringify(failures)}`);
  await allEnded(system);
  const { sent, superseded, latenciesMs } = await resultOf(system, after);
  const { p50Ms, p99Ms } = quantiles(latenciesMs);
  const on = `${devices} devices of ${platform}`;
  const of = count === 1 ? `one activity on ${on}` : `${count} activities on ${on}`;
  const how =
    `${of}, ${perSecond} updates a second for ${seconds} s, 2 dispatchers; p50 ${p50Ms.toFixed(0)} ms; ` +
    `${sent} pushes, ${superseded} updates overtaken`;
  return [
    {
      name: `live activity update on ${platform}, ${count === 1 ? "of one" : "of many"}, p99`,
      reach: atMost(500),
      value: p99Ms,
      unit: "ms",
      how,
    },
  ];
};

const makeType = async (system: System, apiserver: SystemProgram, platform: Platform = "ios"): Promise<void> => {
  const schema = { type: "object", properties: { step: { type: "integer" } } };
  const reply = await fetch(`${apiserver.url}/v1/apps/${system.app._id}/live-activities/types`, {
    method: "POST",
    headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "Match", content_state_schema: schema, platforms: [platform] }),
  });
  if (reply.status !== 201 && reply.status !== 409) throw new Error(`${reply.status}: ${await reply.text()}`);
};

/** Stores activities that devices show; their names. */
const showing = async (system: System, { devices, count, platform }: Activities): Promise<string[]> => {
  const { db, tenantId, app } = system;
  const now = new Date();
  const type = await db.collection("live_activity_types").findOne({ app_id: app._id, name: "Match" });
  const channel = channelOf[platform];
  const device = channel === "android_push" ? aPhone : () => ({});
  const subscriptions = Array.from({ length: devices }, () =>
    aSubscription({ tenant_id: tenantId, app_id: app._id, ...device() }),
  );
  await seed(db, { subscriptions });
  const names = Array.from({ length: count }, (_, i) => `${count}-${i}`);
  for (const name of names)
    await activities(db).insert(activityOf(system, name, { typeId: String(type?._id), channel, now }));
  const rows = subscriptions.map((one, i) => recipientOf(one, activityKey(app._id, names[i % count] ?? ""), now));
  await collectionOf<ActivityRecipientRow>(db, activityRecipientCollection).insertMany(rows);
  return names;
};

const aPhone = () => ({
  channel: "android_push" as const,
  token: `phone:APA91b${randomBytes(60).toString("base64url")}`,
});

type Shown = { typeId: string; channel: Channel; now: Date };

const activityOf = ({ app, tenantId }: System, name: string, { typeId, channel, now }: Shown) => ({
  _id: activityKey(app._id, name),
  tenant_id: tenantId,
  app_id: app._id,
  type_id: typeId,
  activity_id: name,
  status: "running" as const,
  attributes: {},
  channels: [channel],
  ends_at: new Date(now.getTime() + 43_200_000),
  ended_at: null,
  ended_by: null,
  sender: null,
  turns: 0,
  created_at: now,
  updated_at: now,
  due_at: null,
  lease: null,
  fence: 0,
});

const recipientOf = (
  { _id, tenant_id, app_id, channel }: SubscriptionRow,
  activity: string,
  now: Date,
): ActivityRecipientRow => ({
  _id: recipientId(activity, _id),
  tenant_id,
  app_id,
  subscription_id: _id,
  activity,
  state: "active",
  ...(channel === "ios_push" ? { token: randomBytes(40).toString("hex") } : { channel, token: null }),
  start_message_id: null,
  hold_until: now,
  held_message_id: null,
  created_at: now,
  updated_at: now,
});

const messagesOf = ({ db, app }: System) => ({ rows: db.collection<MessageRow>("messages"), app_id: app._id });

const allEnded = async (system: System): Promise<void> => {
  const { rows, app_id } = messagesOf(system);
  const unended = { app_id, status: { $in: ["queued", "processing"] as MessageRow["status"][] } };
  await until(async () => (await rows.countDocuments(unended)) === 0, 120_000);
};

const newestId = async (system: System): Promise<string> => {
  const { rows, app_id } = messagesOf(system);
  const [newest] = await rows.find({ app_id }).sort({ _id: -1 }).limit(1).toArray();
  return newest?._id ?? "";
};

const resultOf = async (system: System, after: string) => {
  const { rows, app_id } = messagesOf(system);
  const messages = await rows.find({ app_id, _id: { $gt: after } }).toArray();
  const accepted = new Map(messages.map((row) => [row._id, row.created_at.getTime()]));
  const deliveries = system.db.collection<DeliveryRow>("deliveries");
  const latenciesMs: number[] = [];
  const superseded = messages.filter((row) => row.live_activity?.is_superseded === true).length;
  for (const id of accepted.keys()) {
    const found = await deliveries.find({ message_id: id }, { projection: { sent_at: 1 } }).toArray();
    for (const { sent_at: at } of found) if (at !== undefined) latenciesMs.push(at.getTime() - (accepted.get(id) ?? 0));
  }
  return { sent: latenciesMs.length, superseded, latenciesMs };
};
