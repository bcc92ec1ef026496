import { randomBytes } from "node:crypto";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { Delivery } from "#core/schema/messages/delivery.ts";
import type { CreateNotificationResult } from "#core/schema/messages/message.ts";
import type { CreateNotification } from "#core/schema/messages/notification.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { ReceivedEntry } from "../simulators/kit/received.ts";
import type { ReceivedWebhook } from "../simulators/receiver.ts";
import { eventually } from "./eventually.ts";
import type { Person } from "./people.ts";
import type { Rest } from "./rest.ts";
import type { Addresses } from "./settings.ts";

/** What became of one notification, each part seen from another side; null: not there within the time. */
export type Evidence = {
  channel: Channel;
  recipient: string;
  /** Title or subject, as the provider's simulator decrypted or parsed it. */
  received: string | null;
  /** Status of the delivery, by REST. */
  delivery: string | null;
  /** Kind of the webhook event about the delivery. */
  event: string | null;
  /** Whether the standardwebhooks library verified its signature. */
  isVerified: boolean;
};

const withinMs = 20_000;

/** Sends one notification to a person and gathers what became of it. */
export const sendTo = async (person: Person, rest: Rest, at: Addresses): Promise<Evidence> => {
  const { channel, externalId, subscription } = person;
  const title = `Order ${randomBytes(3).toString("hex")} is on its way`;
  const body: CreateNotification = {
    target: { include_external_ids: [externalId], channels: [channel] },
    labels: ["demo"],
    ...contentFor(channel, title),
  };
  const message = await rest.post<CreateNotificationResult>("/v1/notifications", body, {
    "idempotency-key": `demo-${title.replaceAll(" ", "-")}`,
  });
  const [delivery, webhook] = await Promise.all([
    eventually(() => deliveryOf(rest, message.id, subscription.id), withinMs),
    eventually(() => webhookAbout(message.id, subscription.id, at), withinMs),
  ]);
  const received = await receivedBy(person, title, at); // the provider has answered before there is a delivery
  return {
    channel,
    recipient: subscription.token_masked,
    received,
    delivery,
    event: webhook?.type ?? null,
    isVerified: webhook?.verified ?? false,
  };
};

const contentFor = (channel: Channel, title: string): Partial<CreateNotification> => {
  const text = "It leaves our house today and is with you tomorrow.";
  if (channel === "email") return { email_subject: title, email_body: `<h1>${title}</h1><p>${text}</p>` };
  if (channel === "sms" || channel === "rcs") return { contents: { en: title } };
  if (channel === "whatsapp") {
    return { whatsapp_template: { name: "order_update", language: "en_US", body_params: [title, text] } };
  }
  return { headings: { en: title }, contents: { en: text }, url: "https://shop.example/orders" };
};

/** The title that a simulator received at the person's address, when it is the one that was sent. */
const receivedBy = async ({ channel, address }: Person, title: string, at: Addresses): Promise<string | null> => {
  const entries = await getJson<ReceivedEntry[]>(`${at.control}/received?channel=${channel}`);
  const titles = entries.flatMap((entry) =>
    entry.accepted && entry.address === address ? titleIn(channel, JSON.parse(entry.body) as Payload) : [],
  );
  return titles.find((received) => received === title) ?? null;
};

/** Of each channel's payload the part that holds the title. */
type Payload = {
  aps?: { alert?: { title?: string } };
  message?: { notification?: { title?: string } };
  title?: string;
  subject?: string;
  Body?: string;
  template?: { components?: { parameters?: { text?: string }[] }[] };
};

const titleIn = (channel: Channel, payload: Payload): string | undefined => {
  switch (channel) {
    case "ios_push":
      return payload.aps?.alert?.title;
    case "android_push":
    case "hms_push":
      return payload.message?.notification?.title;
    case "web_push":
      return payload.title;
    case "email":
      return payload.subject;
    case "sms":
    case "rcs":
      return payload.Body;
    case "whatsapp":
      return payload.template?.components?.[0]?.parameters?.[0]?.text;
  }
};

const deliveryOf = async (rest: Rest, messageId: string, subscriptionId: string): Promise<string | null> => {
  const path = `/v1/notifications/${messageId}/deliveries?subscription_id=${subscriptionId}`;
  const [delivery] = (await rest.get<{ data: Delivery[] }>(path)).data;
  if (delivery === undefined || delivery.status === "queued") return null;
  return delivery.error_code === null ? delivery.status : `${delivery.status} (${delivery.error_code})`;
};

const webhookAbout = async (messageId: string, subscriptionId: string, at: Addresses) => {
  const requests = await getJson<ReceivedWebhook[]>(`${at.receiver}/received`);
  const events = requests
    .filter(({ path }) => path === "/webhooks") // what other endpoints get has forms of their own
    .map(({ body, verified }) => ({ ...(JSON.parse(body) as EventEnvelope), verified }));
  const about = events.find(
    ({ type, data }) =>
      outcomes.includes(type) && data["message_id"] === messageId && data["subscription_id"] === subscriptionId,
  );
  return about ?? null;
};

/** Events about what was sent, before anything was reported about it. */
const outcomes = ["delivery.sent", "delivery.failed"];

const getJson = async <T>(url: string): Promise<T> => {
  const response = await fetch(url).catch((cause: unknown) => {
    throw new Error(`${url} does not answer`, { cause });
  });
  return (await response.json()) as T; // our own tools' answers
};
