import {
  choiceOf,
  type Inbound,
  type InboundContent,
  type InboundMedia,
  inboundMessage,
  itemOf,
  maxInboundParts,
  maxName,
  placeOf,
  said,
} from "../kit/inbound.ts";
import { listOf, memberOf, textOf } from "../kit/reading.ts";
import { instantOf, keptMessageId, numberOf } from "./values.ts";

/**
 * The messages of people in what Meta says of one phone number. One whose sender's number Meta keeps to itself, and notices of
 * Meta, are left out. Source: developers.facebook.com, WhatsApp Business Platform, "messages webhook reference".
 */
export const inboundIn = (value: unknown): Inbound[] => {
  const names = namesIn(value);
  return listOf(value, "messages").flatMap((message): Inbound[] => {
    const [id, from, at] = [textOf(message, "id"), numberOf(memberOf(message, "from")), instantOf(message)];
    if (at === null || id === null || from === null || textOf(message, "type") === "system") return [];
    const quoted = textOf(message, "context", "id");
    return [
      inboundMessage({
        providerId: keptMessageId(id),
        rawId: id,
        address: from,
        sender: textOf(value, "metadata", "phone_number_id"),
        at,
        name: names.get(from) ?? null,
        replyTo: quoted === null ? null : keptMessageId(quoted),
        isFromAd: memberOf(message, "referral") !== undefined,
        content: contentOf(message),
      }),
    ];
  });
};

/** What people call themselves, by their numbers. */
const namesIn = (value: unknown): Map<string, string> =>
  new Map(
    listOf(value, "contacts").flatMap((contact) => {
      const [number, name] = [numberOf(memberOf(contact, "wa_id")), textOf(contact, "profile", "name")];
      return number === null || name === null ? [] : [[number, name.slice(0, maxName)] as const];
    }),
  );

const contentOf = (message: unknown): InboundContent => {
  const type = textOf(message, "type") ?? "";
  const read = Object.hasOwn(readers, type) ? readers[type]?.(memberOf(message, type)) : null;
  return read ?? said("unsupported", null);
};

/** By Meta's name of a type. Null for one that has not what Meta documents. */
const readers: Readonly<Record<string, (given: unknown) => InboundContent | null>> = {
  text: (given) => said("text", textOf(given, "body")),
  image: (given) => fileOf("image", given),
  video: (given) => fileOf("video", given),
  audio: (given) => fileOf("audio", given),
  document: (given) => fileOf("document", given),
  sticker: (given) => fileOf("sticker", given),
  button: (given) => chosen("button_reply", choiceOf(given, "payload", "text")),
  interactive: (given) =>
    chosen("button_reply", choiceOf(memberOf(given, "button_reply"))) ??
    chosen("list_reply", choiceOf(memberOf(given, "list_reply"))),
  location: (given) => {
    const [name, address] = [textOf(given, "name"), textOf(given, "address")];
    const location = placeOf(memberOf(given, "latitude"), memberOf(given, "longitude"), { name, address });
    return location && said("location", name, { location });
  },
  contacts: (given) => said("contacts", null, { contacts: listOf(given).slice(0, maxInboundParts).map(cardOf) }),
  reaction: (given) => {
    const id = textOf(given, "message_id");
    if (id === null) return null;
    const emoji = textOf(given, "emoji")?.slice(0, maxEmoji) ?? null;
    return said("reaction", null, { reaction: { messageId: keptMessageId(id), emoji } });
  },
  order: (given) =>
    said("order", textOf(given, "text"), {
      order: {
        catalogId: textOf(given, "catalog_id"),
        items: listOf(given, "product_items").slice(0, maxInboundParts).flatMap(itemOf),
      },
    }),
};

const maxEmoji = 64;

const fileOf = (type: InboundMedia["type"], given: unknown): InboundContent | null => {
  const id = textOf(given, "id");
  if (id === null) return null;
  const [filename, mimeType] = [textOf(given, "filename"), textOf(given, "mime_type")];
  const media = [{ type, id, url: null, filename: filename?.slice(0, maxName) ?? null, mimeType }];
  return said(type === "sticker" ? "sticker" : "media", textOf(given, "caption"), { media });
};

const chosen = (type: "button_reply" | "list_reply", button: InboundContent["button"]): InboundContent | null =>
  button && said(type, button.title, { button });

const cardOf = (card: unknown) => ({
  name: textOf(card, "name", "formatted_name")?.slice(0, maxName) ?? null,
  phones: textsOf(listOf(card, "phones"), "phone"),
  emails: textsOf(listOf(card, "emails"), "email"),
});

const textsOf = (list: readonly unknown[], name: string): string[] =>
  list.slice(0, maxInboundParts).flatMap((one) => textOf(one, name)?.slice(0, maxName) ?? []);
