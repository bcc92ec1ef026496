import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { renderRcs } from "#core/channels/rcs/render.ts";
import { renderWhatsapp } from "#core/channels/whatsapp/render.ts";
import { systemClock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Recipient } from "#core/domain/messages/outcome.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import { type Credentials, makeCredentials } from "../../../dev/simulators/kit/credentials.ts";
import { type Account, rendered } from "../../../dispatcher/channels/kit/provider.ts";
import { twilioRcs } from "../../../dispatcher/channels/rcs/twilio.ts";
import { withShortLinks } from "../../../dispatcher/channels/sms/short-links.ts";
import { twilioSms } from "../../../dispatcher/channels/sms/twilio.ts";
import { meta } from "../../../dispatcher/channels/whatsapp/meta.ts";
import { type RestTransports, restTransports } from "../../../dispatcher/net/guarded/rest.ts";
import type { TextSink } from "./text-sink.ts";

export type TextSenderBench = { channel: TextSink["channel"]; messages?: number; warmUp?: number; underWay?: number };
export type TextSenderResult = { cpuUs: number; perSecond: number };

/**
 * CPU of the sending process for each message: SMS with a short link for each recipient (stored nowhere), RCS, or a
 * template of WhatsApp, over TLS to the provider's simulator in another process, `underWay` of them at a time, after
 * `warmUp` more for connections and compiler.
 */
export const benchTextSender = async (bench: TextSenderBench): Promise<TextSenderResult> => {
  const { channel, messages = 20_000, warmUp = 3_000, underWay = 32 } = bench;
  const credentials = makeCredentials();
  const child = fork(join(import.meta.dirname, "text-sink.ts"));
  child.send({ channel, credentials } satisfies TextSink);
  const [url] = (await once(child, "message")) as [string]; // what text-sink.ts answers first
  const rest = restTransports({ ca: credentials.tls.cert });
  const account = accounts[channel]({ url, credentials, rest });
  const rendering = { messageId: "msg_1", options: {}, language: null, ttlSeconds: 3600 };
  const send = account.prepare({ ...rendering, content: channel === "whatsapp" ? template : text });
  const never = new AbortController().signal;
  const sendOne = async (n: number): Promise<void> => {
    const outcome = await send(recipient(n), never, () => false);
    if (outcome.kind !== "sent") throw new Error(`a message was not sent: ${JSON.stringify(outcome)}`);
  };
  await repeat(warmUp, underWay, sendOne);
  const before = process.cpuUsage();
  const startedMs = performance.now();
  await repeat(messages, underWay, (n) => sendOne(warmUp + n));
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before);
  await account.close();
  rest.close();
  child.send("counts");
  const [accepted] = (await once(child, "message")) as [number]; // what text-sink.ts answers from then on
  child.disconnect();
  if (accepted !== messages + warmUp) throw new Error(`${accepted} messages arrived of ${messages + warmUp}`);
  return { cpuUs: (user + system) / messages, perSecond: (messages / tookMs) * 1000 };
};

const text: Content = { contents: { en: "Your order is on its way: https://shop.example/orders/4711?utm_source=sms" } };
const template: Content = {
  whatsapp_template: { name: "order_update", language: "en_US", body_params: ["Your order", "It is on its way."] },
};

const repeat = async (times: number, width: number, run: (n: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < times; n = next++) await run(n);
  };
  await Promise.all(Array.from({ length: width }, worker));
};

const recipient = (n: number): Recipient => ({
  deliveryId: derivedId("delivery", String(n)),
  subscriptionId: derivedId("subscription", String(n)),
  address: `+49151${String(n).padStart(8, "0")}`,
});

type Given = { url: string; credentials: Credentials; rest: RestTransports };

const app = { appId: "app_1", tenantId: "ten_1" };
const statusUrl = (id: string): string => `https://api.example/ingress/twilio/app_1/status/${id}`;
const key = { api_key_sid: null, api_key_secret: null };

const accounts: Record<TextSenderBench["channel"], (given: Given) => Account> = {
  sms: ({ url, credentials: { twilio }, rest }) => {
    const { accountSid, authToken, senders } = twilio.sms;
    const account = { account_sid: accountSid, auth_token: authToken, ...key, senders, messaging_service_sid: null };
    const provider = twilioSms({ account, baseUrl: url, statusUrl, rest, clock: systemClock });
    const urlOf = (code: string): string => `https://api.example/l/${code}`;
    return withShortLinks({ app, urlOf, keep: async () => undefined, clock: systemClock }, provider);
  },
  rcs: ({ url, credentials: { twilio }, rest }) => {
    const { accountSid, authToken, messagingServiceSid, rcsSender = "" } = twilio.rcs;
    const account = {
      account_sid: accountSid,
      auth_token: authToken,
      ...key,
      sender: rcsSender,
      messaging_service_sid: messagingServiceSid,
    };
    const templates = { find: async () => null, keep: async () => true, forget: async () => undefined };
    const deps = { account, app, templates, baseUrl: url, contentUrl: url, statusUrl, rest, clock: systemClock };
    return rendered(twilioRcs(deps), renderRcs);
  },
  whatsapp: ({ url, credentials: { whatsapp }, rest: { open } }) => {
    const account = { ...whatsapp, apiVersion: "v25.0", messagesPerSecond: 1_000_000 };
    return rendered(meta({ account, baseUrl: url, open, clock: systemClock }), renderWhatsapp);
  },
};
