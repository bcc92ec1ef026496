import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import { startApns } from "../../../dev/simulators/apns.ts";
import { startFcm } from "../../../dev/simulators/fcm.ts";
import { type Issuer, selfSigned, simulatorsName } from "../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import type { Credentials } from "../../../dev/simulators/kit/credentials.ts";
import { startSmtp } from "../../../dev/simulators/smtp.ts";
import { startTwilio, type TwilioSimulator } from "../../../dev/simulators/twilio.ts";
import { apnsIdOf } from "../../../dispatcher/channels/ios-push/apns.ts";
import { deliveryIdOf } from "../../../dispatcher/messages/delivery/delivery-row.ts";
import { allAccounts, aSubscription, seed, testKeyRing } from "../rows/fixtures.ts";
import type { TestServers } from "../servers/servers.ts";
import { inSuite } from "../suite/soak.ts";
import { until } from "../until.ts";
import { testCredentials } from "./credentials.ts";
import { type System, startSystem } from "./system.ts";
import { giveTexts } from "./text-accounts.ts";

/**
 * An installation and the APNs that its app sends to, in the process of the test. `texts` gives the app accounts of `sms`,
 * `rcs` and `whatsapp` at the Twilio that its programs know, `android` one of `android_push` at their FCM.
 */
export type Sending = {
  system: System;
  /** An authority that the installation's programs trust. */
  authority: Issuer;
  apns: Simulator;
  texts: () => Promise<TwilioSimulator>;
  android: () => Promise<Simulator>;
  close: () => Promise<void>;
};

/** Starts an APNs simulator and prepares an installation that sends to it. */
export const startSending = async (
  servers: Omit<TestServers, "kubeconfig" | "s3Url">,
  plan: Partial<PlanRow> = {},
): Promise<Sending> => {
  const credentials = testCredentials();
  const apns = await startApns({ port: 0, tls: credentials.tls, keys: [credentials.apns] });
  const twilio = await startTwilio({ port: 0, tls: credentials.tls, accounts: credentials.twilio });
  const fcm = await startFcm({ port: 0, tls: credentials.tls, accounts: [credentials.fcm] });
  const env = { HERALD_TWILIO_URL: twilio.url, HERALD_TWILIO_CONTENT_URL: twilio.url, HERALD_FCM_URL: fcm.url };
  const system = await startSystem({ ...servers, plan, apns: { url: apns.url, credentials }, env });
  return {
    system,
    authority: { name: simulatorsName, ...credentials.tls },
    apns,
    texts: async () => {
      await giveTexts(system, credentials);
      return twilio;
    },
    android: async () => {
      await giveAndroid(system, credentials, fcm);
      return fcm;
    },
    close: async () => {
      await system.stop();
      await apns.stop();
      await twilio.stop();
      await fcm.stop();
    },
  };
};

/** Gives an installation's app an account of `android_push` at an FCM simulator, which its programs must know. */
export const giveAndroid = async (
  { db, app }: System,
  { fcm }: Credentials,
  { url }: Pick<Simulator, "url">,
): Promise<void> => {
  const account: AppRow["channels"]["android_push"] = {
    project_id: fcm.projectId,
    client_email: fcm.clientEmail,
    token_uri: `${url}/token`,
    private_key: keyRing(testKeyRing).seal(fcm.privateKeyPem, `apps/${app._id}/android_push.private_key`),
  };
  const change = { $set: { "channels.android_push": account }, $inc: { channels_revision: 1 } };
  await db.collection<AppRow>("apps").updateOne({ _id: app._id }, change);
};

let phones = 0;

/** Stores a phone of the installation's app. */
export const seedPhone = async (
  system: System,
  channel: "sms" | "rcs" | "whatsapp" = "sms",
): Promise<SubscriptionRow> => {
  const token = `+4915112${String(++phones).padStart(6, "0")}`;
  const phone = aSubscription({ tenant_id: system.tenantId, app_id: system.app._id, channel, token });
  await seed(system.db, { subscriptions: [phone] });
  return phone;
};

/** Starts a mail server that the installation's app sends to. */
export const startMail = async ({ db, app }: System): Promise<Simulator> => {
  const mail = await startSmtp({ port: 0, tls: selfSigned() });
  const email = { ...allAccounts(app._id).email, port: Number(new URL(mail.url).port) };
  await db.collection<AppRow>("apps").updateOne({ _id: app._id }, { $set: { "channels.email": email } });
  return mail;
};

/** The sum of a counter's values in these programs, over all labels. */
export const counted = async (programs: readonly { healthUrl: string }[], counter: string): Promise<number> => {
  const pages = await Promise.all(programs.map(async ({ healthUrl }) => (await fetch(`${healthUrl}/metrics`)).text()));
  const lines = pages.flatMap((page) => page.split("\n")).filter((line) => line.startsWith(`${counter}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
};

/** Stores iOS subscriptions of the installation's app, each of a user of its own. */
export const seedDevices = async (
  { db, tenantId, app }: System,
  count: number,
  over: Partial<SubscriptionRow> = {},
): Promise<SubscriptionRow[]> => {
  const of = { tenant_id: tenantId, app_id: app._id };
  const subscriptions = Array.from({ length: count }, () => aSubscription({ ...of, token: aToken(), ...over }));
  await seed(db, { subscriptions });
  return subscriptions;
};

/** Stores Android subscriptions of the installation's app, each of a user of its own. */
export const seedPhones = (system: System, count: number): Promise<SubscriptionRow[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const token = `phone:APA91b${randomBytes(60).toString("base64url")}`;
      const [phone] = await seedDevices(system, 1, { channel: "android_push", token });
      return phone as SubscriptionRow; // one was made
    }),
  );

/** An APNs device token; `prefix`, in hex digits, lets a script mean it. */
export const aToken = (prefix = ""): string => prefix + randomBytes(32).toString("hex").slice(prefix.length);

export type Posted = { status: number; headers: Headers; body: Record<string, unknown> };

/** Asks for a notification. */
export const post = async ({ app, token }: System, apiserver: { url: string }, body: object): Promise<Posted> => {
  const reply = await fetch(`${apiserver.url}/v1/notifications`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ app_id: app._id, contents: { en: "Hello" }, ...body }),
  });
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Posted["body"] }; // always JSON
};

/** Has a notification accepted; its id. */
export const send = async (system: System, apiserver: { url: string }, body: object): Promise<string> => {
  const { status, body: answer } = await post(system, apiserver, body);
  if (status !== 202) throw new Error(`${status}: ${JSON.stringify(answer)}`);
  return String(answer["id"]);
};

/**
 * Changes a message that dispatchers have in hand between two of their turns: a turn under way would write what it read
 * before.
 */
export const changeBetween = async ({ db }: System, _id: string, change: object, withinMs: number): Promise<void> => {
  const messages = db.collection<MessageRow>("messages");
  const free = { _id, $or: [{ lease: null }, { completed_at: { $ne: null } }] };
  await until(async () => (await messages.updateOne(free, { $set: change })).matchedCount === 1, withinMs);
};

/** Has what a message waits with until later become due now, as if the time had passed. */
export const comesDue = async (system: System, id: string, withinMs: number): Promise<void> => {
  const [chunks, now] = [system.db.collection<ChunkRow>("chunks"), new Date()];
  await chunks.updateMany({ message_id: id, status: "scheduled" }, { $set: { scheduled_for: now } });
  await changeBetween(system, id, { due_at: now }, withinMs);
};

/** Every delivery of a message. */
export const deliveriesOf = ({ db }: System, messageId: string): Promise<DeliveryRow[]> =>
  db.collection<DeliveryRow>("deliveries").find({ message_id: messageId }).toArray();

/** What became of a message's recipients, by the deliveries and by what the provider says that it accepted. */
export type Audit = {
  message: MessageRow;
  /** Recipients whose push the provider never accepted. */
  missed: number;
  /** Pushes beyond the first to a recipient, over all. */
  repeated: number;
  /** Deliveries by status. */
  deliveries: Record<string, number>;
};

/** Waits until a message has ended, then holds what the provider accepted against who was to get it. */
export const audit = async (
  { system, apns }: Pick<Sending, "system" | "apns">,
  { messageId, devices, withinMs }: { messageId: string; devices: readonly SubscriptionRow[]; withinMs: number },
): Promise<Audit> => {
  const message = await system.ended(messageId, withinMs);
  const accepted = apns.log.tally("key");
  const times = devices.map(({ _id }) => accepted.get(apnsIdOf(deliveryIdOf(messageId, _id))) ?? 0);
  const groups = Map.groupBy(await deliveriesOf(system, messageId), ({ status }) => status);
  return {
    message,
    missed: times.filter((n) => n === 0).length,
    repeated: times.reduce((sum, n) => sum + Math.max(0, n - 1), 0),
    deliveries: Object.fromEntries([...groups].map(([status, { length }]) => [status, length])),
  };
};

/** Throws unless every recipient was sent to, has one delivery that says so, and the counters say the same. */
export const expectAllSent = ({ message, missed, deliveries }: Audit, count: number): void => {
  expect(message).to.include({ status: "completed", error: null });
  expect(missed, "recipients without a push").to.equal(0);
  expect(deliveries).to.deep.equal({ sent: count });
  expect(message.counts).to.include({ targeted: count, sent: count, failed: 0, errored: 0, expired: 0, suppressed: 0 });
};

/** A subscription id of nobody. */
export const nobody = (): string => newId("subscription", new Date());

/** Messages that a caller has accepted one after another, as one that heeds the service's answers would. */
export type Caller = {
  /** Ends it; the ids of what was accepted, and how often each status was answered (0: there was no answer). */
  stop: () => Promise<{ ids: string[]; answers: ReadonlyMap<number, number> }>;
};

const betweenMs = inSuite(250, { soak: 100 }); // one message with its webhooks costs some 75 ms of processor time over all programs

/**
 * Sends small messages to one device after another for as long as it runs. Each has an idempotency key, with which it
 * is asked for again until it is accepted.
 */
export const keepCalling = (
  system: System,
  apiserver: { url: string },
  devices: readonly SubscriptionRow[],
): Caller => {
  const ids: string[] = [];
  const answers = new Map<number, number>();
  const isOver = new AbortController();
  const ask = async (body: object): Promise<Posted | null> => {
    const reply = await post(system, apiserver, body).catch(() => null);
    answers.set(reply?.status ?? 0, (answers.get(reply?.status ?? 0) ?? 0) + 1);
    return reply;
  };
  const call = async (): Promise<void> => {
    while (!isOver.signal.aborted) {
      const target = { include_subscription_ids: [devices[ids.length % devices.length]?._id] };
      const body = { target, idempotency_key: `call-${ids.length}-${randomBytes(8).toString("hex")}` };
      let reply = await ask(body);
      while (reply?.status !== 202 && !isOver.signal.aborted) {
        await sleep(betweenMs);
        reply = await ask(body);
      }
      if (reply?.status === 202) ids.push(String(reply.body["id"]));
      await sleep(betweenMs);
    }
  };
  const calling = call();
  return {
    stop: async () => {
      isOver.abort();
      await calling;
      return { ids, answers };
    },
  };
};
