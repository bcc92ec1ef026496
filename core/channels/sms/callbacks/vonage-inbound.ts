import { wordOf } from "../../../domain/suppressions/words.ts";
import { UnreadableCallback } from "../../kit/callbacks.ts";
import {
  choiceOf,
  type Inbound,
  type InboundContent,
  type InboundMedia,
  inboundMessage,
  maxInboundParts,
  maxName,
  placeOf,
  said,
} from "../../kit/inbound.ts";
import { instantOf, listOf, memberOf, textOf } from "../../kit/reading.ts";

/**
 * A message of a person by SMS or MMS; those of other channels of the application are left out.
 * Source: developer.vonage.com, "Messages API", inbound message.
 * @throws UnreadableCallback
 */
export const inboundIn = (body: unknown, receivedAt: Date): Inbound[] => {
  const [providerId, address] = [textOf(body, "message_uuid"), vonageNumber(body, "from")];
  if (providerId === null || address === null)
    throw new UnreadableCallback("an inbound message without its id or sender");
  if (!channels.includes(textOf(body, "channel") ?? "sms")) return [];
  return [
    inboundMessage({
      providerId,
      address,
      sender: vonageNumber(body, "to"),
      at: instantOf(body, "timestamp") ?? receivedAt,
      word: wordOf(textOf(body, "text") ?? ""),
      name: textOf(body, "profile", "name")?.slice(0, maxName) ?? null,
      replyTo: textOf(body, "context", "message_uuid"),
      content: contentOf(body),
    }),
  ];
};

const channels = ["sms", "mms"];

/** Vonage writes numbers without their plus sign. */
export const vonageNumber = (body: unknown, name: string): string | null =>
  textOf(body, name)?.replace(/^\+?(?=\d{7,})/, "+") ?? null;

const contentOf = (body: unknown): InboundContent => {
  const type = textOf(body, "message_type") ?? "text";
  const file = Object.hasOwn(fileTypes, type) ? fileOf(type, memberOf(body, type)) : [];
  if (file.length > 0) return said("media", captionOf(body, type), { media: file });
  switch (type) {
    case "text":
      return said("text", textOf(body, "text"));
    case "content":
      return partsOf(listOf(body, "content"));
    case "reply":
    case "button":
      return choiceIn(body, type);
    case "location":
      return placeIn(memberOf(body, "location"));
    default:
      return said("unsupported", null);
  }
};

/** What the types of content with an address are. */
const fileTypes: Readonly<Record<string, InboundMedia["type"]>> = {
  image: "image",
  video: "video",
  audio: "audio",
  file: "document",
  vcard: "document",
};

const fileOf = (type: string, given: unknown): InboundMedia[] => {
  const [url, of] = [textOf(given, "url"), fileTypes[type]];
  if (url === null || of === undefined) return [];
  return [{ type: of, url, id: null, filename: textOf(given, "name")?.slice(0, maxName) ?? null, mimeType: null }];
};

const captionOf = (body: unknown, type: string): string | null => textOf(body, type, "caption") ?? textOf(body, "text");

/** An MMS of several parts: its texts one below the other. */
const partsOf = (parts: readonly unknown[]): InboundContent => {
  const some = parts.slice(0, maxInboundParts);
  const text = some.flatMap((part) => (textOf(part, "type") === "text" ? (textOf(part, "text") ?? []) : [])).join("\n");
  const media = some.flatMap((part) => fileOf(textOf(part, "type") ?? "", part));
  if (media.length > 0) return said("media", text, { media });
  return text === "" ? said("unsupported", null) : said("text", text);
};

const choiceIn = (body: unknown, type: "reply" | "button"): InboundContent => {
  const given = memberOf(body, type);
  const button = type === "reply" ? choiceOf(given) : choiceOf(given, "payload", "text");
  return button === null ? said("unsupported", null) : said("button_reply", button.title, { button });
};

const placeIn = (given: unknown): InboundContent => {
  const [name, address] = [textOf(given, "name"), textOf(given, "address")];
  const location = placeOf(memberOf(given, "lat"), memberOf(given, "long"), { name, address });
  return location === null ? said("unsupported", null) : said("location", name, { location });
};
