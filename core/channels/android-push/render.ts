import { localised } from "../../domain/messages/languages.ts";
import type { Content, Options } from "../../schema/messages/notification.ts";
import { lastKept, reportWithinSeconds } from "../kit/push.ts";
import type { Rendering } from "../kit/rendering.ts";
import { liveUpdate } from "./live-update.ts";

/** One push to Android devices, shared by the recipients of a language; `fcmBody` adds token and delivery id. */
export type FcmPush = {
  /** FCM's message as JSON, cut where the delivery id belongs. */
  json: { before: string; after: string };
};

/** Largest notification with its data, bytes. Source: Firebase, "About FCM messages". */
export const maxFcmBytes = 4096;

/**
 * Renders a message for Android: FCM shows what it has members for; what it has none for (links, buttons, subtitle,
 * large icon, group) goes to the app as JSON in the data member `herald`, beside the sender's own data.
 * Without text it is a data message: it starts the app in the background and shows nothing.
 * Source: Firebase, REST resource projects.messages; docs/reference/channels.md#priority.
 */
export const renderFcm = lastKept((rendering: Rendering): FcmPush => {
  const { messageId, content, options, language, ttlSeconds, live } = rendering;
  if (live !== undefined) {
    const { message, data } = liveUpdate(live, rendering);
    return { json: jsonOf(message, { message_id: messageId }, data) };
  }
  const texts = { title: textOf(content.headings, language), body: textOf(content.contents, language) };
  const isVisible = texts.title !== undefined || texts.body !== undefined;
  const message = {
    ...(isVisible ? { notification: texts } : {}),
    android: {
      collapse_key: options.collapse_id || undefined,
      priority: priorityOf(options, isVisible),
      ttl: `${ttlSeconds}s`,
      notification: isVisible ? androidNotification(content, options) : undefined,
    },
  };
  const herald = {
    message_id: messageId,
    url: content.url,
    app_url: content.app_url,
    subtitle: textOf(content.subtitle, language),
    buttons: content.buttons,
    large_icon: content.large_icon || undefined,
    group: content.android_group || undefined,
    report_within_s: reportWithinSeconds(rendering.recipients),
  };
  return { json: jsonOf(message, herald, content.data) };
});

/** The request body for one recipient. */
export const fcmBody = ({ json }: FcmPush, token: string, deliveryId: string): string =>
  `{"message":{"token":${JSON.stringify(token)},${json.before}${deliveryId}${json.after}}}`;

/** Member names that FCM keeps for itself or that this service uses. Source: Firebase, REST resource projects.messages. */
export const isReservedDataKey = (key: string): boolean =>
  key === "from" || key === "message_type" || key === "herald" || /^(?:google|gcm)/.test(key);

const textOf = (texts: Record<string, string> | undefined, language: string | null): string | undefined =>
  localised(texts, language) || undefined;

const priorityOf = ({ priority }: Options, isVisible: boolean): "HIGH" | "NORMAL" =>
  (priority ?? (isVisible ? 10 : 5)) === 10 ? "HIGH" : "NORMAL";

const visibilities = { "1": "PUBLIC", "0": "PRIVATE", "-1": "SECRET" } as const;

const androidNotification = (content: Content, { collapse_id: collapseId }: Options) => ({
  channel_id: content.android_channel_id || undefined,
  icon: content.small_icon || undefined,
  color: content.android_accent_color && `#${content.android_accent_color.slice(2)}`, // Android draws it opaque
  sound: (content.android_sound ?? "default") || undefined,
  tag: collapseId || undefined,
  image: content.big_picture,
  visibility: content.android_visibility === undefined ? undefined : visibilities[`${content.android_visibility}`],
});

/** `herald` is JSON within JSON, so its quotes are escaped; the delivery id, letters and digits, needs no escape. */
const jsonOf = (message: object, herald: object, data: Record<string, string> = {}): FcmPush["json"] => {
  const restOfHerald = JSON.stringify(`",${JSON.stringify(herald).slice(1)}`).slice(1);
  const members = [
    restOfHerald,
    ...Object.entries(data).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`),
  ];
  return {
    before: String.raw`"data":{"herald":"{\"delivery_id\":\"`,
    after: `${members.join(",")}},${JSON.stringify(message).slice(1, -1)}`,
  };
};
