import { languagesOf } from "../domain/messages/languages.ts";
import type { FieldError } from "../errors.ts";
import type { Content, Options } from "../schema/messages/notification.ts";
import type { Channel } from "../schema/vocabulary/channels.ts";
import { fcmBody, isReservedDataKey, maxFcmBytes, renderFcm } from "./android-push/render.ts";
import { apnsBody, maxApnsBytes, renderApns } from "./ios-push/render.ts";
import { type Rendering } from "./rendering.ts";
import { maxWebPushBytes, renderWebPush, webPushBody } from "./web-push/render.ts";

/**
 * What makes a message impossible as a push of these channels: a payload over the provider's limit in some language,
 * or a member of `data` that FCM keeps for itself. Asked before a message is accepted. Source: spec 4.2, decisions 7.11.
 */
export const pushErrors = (message: { content: Content; options: Options }, over: readonly Channel[]): FieldError[] => {
  const sizes = limits.filter(({ channel }) => over.includes(channel)).flatMap((limit) => oversize(message, limit));
  return over.includes("android_push") ? [...sizes, ...reserved(message.content)] : sizes;
};

type Limit = { channel: Channel; maxBytes: number; render: (rendering: Rendering) => string };

const anId = "0".repeat(30); // ids are 30 characters long

const limits: readonly Limit[] = [
  { channel: "ios_push", maxBytes: maxApnsBytes, render: (rendering) => apnsBody(renderApns(rendering), anId) },
  { channel: "android_push", maxBytes: maxFcmBytes, render: (rendering) => fcmBody(renderFcm(rendering), "", anId) },
  {
    channel: "web_push",
    maxBytes: maxWebPushBytes,
    render: (rendering) => webPushBody(renderWebPush(rendering), anId),
  },
];

const oversize = ({ content, options }: { content: Content; options: Options }, limit: Limit): FieldError[] => {
  const field = content.contents === undefined ? "data" : "contents";
  for (const language of languagesOf(content)) {
    const body = limit.render({ messageId: anId, content, options, language, ttlSeconds: options.ttl ?? 2_419_200 });
    const sizeBytes = Buffer.byteLength(body);
    if (sizeBytes <= limit.maxBytes) continue;
    const where = language === null ? "" : ` in language ${language}`;
    return [
      {
        field,
        message: `as ${limit.channel} it has ${sizeBytes} bytes${where}; at most ${limit.maxBytes} can be sent`,
      },
    ];
  }
  return [];
};

const reserved = ({ data = {} }: Content): FieldError[] =>
  Object.keys(data)
    .filter(isReservedDataKey)
    .map((key) => ({ field: `data.${key}`, message: "is reserved on Android" }));
