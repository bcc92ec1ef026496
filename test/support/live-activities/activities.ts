import { type StartTokenRow, startTokenId } from "#core/storage/live-activities/start-tokens.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { testServers } from "../servers/servers.ts";
import { aToken, deliveriesOf, type Sending, startSending } from "../system/sending.ts";
import type { SystemProgram } from "../system/system.ts";

export type Aps = {
  timestamp: number;
  event: string;
  "content-state": Record<string, unknown>;
  attributes?: Record<string, unknown>;
  "attributes-type"?: string;
  alert?: Record<string, string>;
};

/** What APNs accepted for a live activity. */
export type ActivityPush = { token: string; topic: string; priority: string; aps: Aps };

/** What FCM accepted for a live activity: docs/live-activities.md#android. */
export type LiveUpdate = {
  event: string;
  activity_id: string;
  attributes: Record<string, unknown>;
  content_state: Record<string, unknown>;
  timestamp: number;
};

export type UpdatePush = { token: string; android: Record<string, unknown>; update: LiveUpdate };

export type Answer = { status: number; headers: Headers; body: Record<string, unknown> };

export type LiveSystem = Awaited<ReturnType<typeof startLiveActivities>>;

/** An installation with an apiserver, dispatchers, accounts at APNs and FCM, and a type; `sending.close` ends it. */
export const startLiveActivities = async ({
  type = "Order",
  platforms = ["ios"],
  dispatchers: count = 1,
}: {
  type?: string;
  platforms?: readonly string[];
  dispatchers?: number;
} = {}) => {
  const sending = await startSending(await testServers());
  const fcm = await sending.android();
  const programs = ["apiserver", ...Array.from({ length: count }, () => "dispatcher" as const)] as const;
  const [api, ...dispatchers] = await Promise.all(programs.map((program) => sending.system.start(program)));
  if (api === undefined) throw new TypeError("no apiserver was started"); // never: it is the first
  const live = liveActivities(sending, api);
  await live.aType(type, { platforms });
  return { sending, fcm, api, dispatchers, live };
};

/** Asks an installation for what concerns live activities, and reads what APNs got. */
export const liveActivities = ({ system, apns }: Sending, api: SystemProgram) => {
  const base = `/v1/apps/${system.app._id}`;
  const ask = async (method: string, path: string, body?: object, key?: string): Promise<Answer> => {
    const reply = await fetch(`${api.url}${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${system.token}`,
        "content-type": "application/json",
        ...(key !== undefined && { "idempotency-key": key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Answer["body"] }; // always JSON
  };
  const send = async (event: string, body: object, type = "Order"): Promise<string> => {
    const { status, body: answer } = await ask("POST", `/live-activities/${type}/${event}`, body);
    if (status !== 202) throw new Error(`${event}: ${status} ${JSON.stringify(answer)}`);
    return String(answer["message_id"]);
  };
  const tokensOf = ({ _id }: SubscriptionRow): string => `/subscriptions/${_id}/live-activity-tokens`;
  const report = async (device: SubscriptionRow, body: object): Promise<string> => {
    const token = aToken();
    const { status, body: answer } = await ask("PUT", tokensOf(device), { ...body, token });
    if (status !== 200) throw new Error(`token: ${status} ${JSON.stringify(answer)}`);
    return token;
  };
  const canStart = (device: SubscriptionRow, type = "Order"): Promise<string> =>
    report(device, { kind: "start", activity_type: type });
  const ended = (messageId: string, withinMs = 20_000): Promise<MessageRow> => system.ended(messageId, withinMs);
  return {
    ask,
    send,
    tokensOf,
    ended,
    /** Makes a type whose state is a number and a text. */
    aType: (name = "Order", over: object = {}): Promise<Answer> => {
      const properties = { step: { type: "integer" }, note: { type: "string" } };
      const schema = { type: "object", properties, required: ["step"] };
      return ask("POST", "/live-activities/types", { name, content_state_schema: schema, ...over });
    },
    /** A device reports a token to start with; the token. */
    canStart,
    /** A device reports the token of an activity that it shows; the token. */
    shows: (device: SubscriptionRow, activityId: string): Promise<string> =>
      report(device, { kind: "update", activity_id: activityId }),
    /** Starts an activity on a device, and waits until the start was sent. */
    startOn: async (device: SubscriptionRow, activity_id: string): Promise<void> => {
      await canStart(device);
      const target = { include_subscription_ids: [device._id] };
      await ended(await send("start", { activity_id, content_state: { step: 0 }, target }));
    },
    deliveries: (messageId: string): Promise<DeliveryRow[]> => deliveriesOf(system, messageId),
    /** What was accepted for a token, oldest first. */
    pushes: (token?: string): ActivityPush[] =>
      apns.log
        .page()
        .filter(({ accepted, headers }) => accepted && headers["apns-push-type"] === "liveactivity")
        .map(({ address, headers, body }) => ({
          token: address,
          topic: String(headers["apns-topic"]),
          priority: String(headers["apns-priority"]),
          aps: (JSON.parse(body) as { aps: Aps }).aps, // checked by the simulator
        }))
        .filter((push) => token === undefined || push.token === token),
  };
};

/** What FCM accepted for the phones of some subscriptions, oldest first. */
export const updatesOf = (fcm: Simulator, phones: readonly Pick<SubscriptionRow, "token">[]): UpdatePush[] => {
  const tokens = new Set(phones.map(({ token }) => token));
  return fcm.log
    .page()
    .filter(({ accepted, address }) => accepted && tokens.has(address))
    .map(({ address, body }) => {
      const { message } = JSON.parse(body) as SentMessage; // checked by the simulator
      const update = JSON.parse(message.data.live_update) as LiveUpdate; // checked by the simulator
      return { token: address, android: message.android, update };
    });
};

type SentMessage = { message: { android: Record<string, unknown>; data: { live_update: string } } };

/** The steps that a device was shown, in the order in which APNs got them. */
export const stepsOf = (pushes: readonly ActivityPush[]): unknown[] =>
  pushes.map(({ aps }) => aps["content-state"]["step"]);

/** A device's token to start activities of a type with, as it is stored. */
export const aStartToken = ({ _id, tenant_id, app_id }: SubscriptionRow, typeId: string): StartTokenRow => ({
  _id: startTokenId(typeId, _id),
  tenant_id,
  app_id,
  type_id: typeId,
  subscription_id: _id,
  token: aToken(),
  updated_at: new Date(),
});
