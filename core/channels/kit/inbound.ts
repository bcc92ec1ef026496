import { type InboundWord, wordOf } from "../../domain/suppressions/words.ts";
import type { inboundTypes } from "../../schema/conversations/message.ts";
import { memberOf, textOf } from "./reading.ts";

/** A message that a person sent to an app, as its provider tells it. Source: docs/reference/callbacks.md#messages-of-people. */
export type Inbound = InboundContent & {
  /** The provider's id of it, as it is kept. */
  providerId: string;
  /** The id as the provider knows it, where `providerId` is a hash of it; else null. It may tell the person's address. */
  rawId: string | null;
  /** Whose it is, in the channel's own spelling. */
  address: string;
  /** What of the app it was sent to: a phone number, an id of one, an RCS sender; null when the provider does not say. */
  sender: string | null;
  at: Date;
  /** What it asks for: `wordOf` its text, or what the provider says; null when it is about something else. */
  word: InboundWord | null;
  /** What the person calls themselves there. */
  name: string | null;
  /** The id, as it is kept, of the message that it answers. */
  replyTo: string | null;
  /** Whether an advertisement led the person here. */
  isFromAd: boolean;
  /** What only mails have. */
  mail?: InboundMail;
};

/** What a mail has besides. Source: docs/reference/mail.md. */
export type InboundMail = {
  subject: string | null;
  html: string | null;
  /** What the mail repeats of those before it. */
  quotedText: string | null;
  /** Who else it went to. */
  cc: string[];
  /** The Message-ID of the first mail of its thread. */
  threadKey: string;
  /** Our delivery that it answers. */
  deliveryId: string | null;
};

type InboundType = (typeof inboundTypes)[number];

/** What is said. Members that do not belong to its type are null, or empty. */
export type InboundContent = {
  type: InboundType;
  /** The text, the caption, the title of what was chosen, the name of a place; at most {@link maxInboundText}. */
  text: string | null;
  media: InboundMedia[];
  button: { id: string; title: string } | null;
  location: { latitude: number; longitude: number; name: string | null; address: string | null } | null;
  contacts: { name: string | null; phones: string[]; emails: string[] }[] | null;
  /** `messageId` is the provider's id, as it is kept; `emoji` is null when a reaction is taken back. */
  reaction: { messageId: string; emoji: string | null } | null;
  order: { catalogId: string | null; items: OrderItem[] } | null;
};

export type OrderItem = { productId: string; quantity: number; price: number | null; currency: string | null };

/** A file that came with a message, where its provider has it: at an address, or under an id of the provider's. */
export type InboundMedia = {
  type: "image" | "video" | "audio" | "document" | "sticker";
  url: string | null;
  id: string | null;
  filename: string | null;
  mimeType: string | null;
  /** What became of a file that came in its message: where it is kept, or why it is not. */
  kept?:
    | { key: string; sizeBytes: number; sha256: string }
    | { problem: "type_not_allowed" | "too_large" | "no_store" };
};

/** Characters of a text that are kept: more than any of the providers carries. */
export const maxInboundText = 16_384;
/** Files, contact cards and items of one message that are kept. */
export const maxInboundParts = 30;

const nothing = {
  media: [],
  button: null,
  location: null,
  contacts: null,
  reaction: null,
  order: null,
} as const satisfies Partial<InboundContent>;

/** Content of a type with what it says; everything else is null. */
export const said = (
  type: InboundType,
  text: string | null,
  more: Partial<Omit<InboundContent, "type" | "text">> = {},
): InboundContent => ({ ...nothing, media: [], type, text: shortened(text), ...more });

/** A message as its provider told it, without the members that many have nothing for. */
export type Told = Pick<Inbound, "providerId" | "address" | "at"> &
  Partial<Omit<Inbound, keyof InboundContent>> & { content: InboundContent };

/** A message with all members. Its word is that of what the person wrote or chose, unless it is given. */
export const inboundMessage = ({ content, ...told }: Told): Inbound =>
  storable({
    rawId: null,
    sender: null,
    name: null,
    replyTo: null,
    isFromAd: false,
    word: worded.includes(content.type) ? wordOf(content.text ?? "") : null,
    ...told,
    ...content,
  });

/** Without what no store takes in a text: U+0000, and halves of surrogate pairs. */
const storable = <T>(value: T): T => {
  if (typeof value === "string") return value.replaceAll("\0", "").toWellFormed() as T; // sound: a text is one still
  if (Array.isArray(value)) return value.map(storable) as T; // sound: of the same
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, storable(one)])) as T; // sound: of the same members
};

/** What may be a word: a place may be called END. */
const worded: readonly InboundType[] = ["text", "button_reply", "list_reply"];

const shortened = (text: string | null): string | null =>
  text === null || text === "" ? null : text.slice(0, maxInboundText);

/** A place; null for what is none on earth. */
export const placeOf = (
  latitude: unknown,
  longitude: unknown,
  { name = null, address = null }: { name?: string | null; address?: string | null } = {},
): InboundContent["location"] => {
  const [north, east] = [latitude, longitude].map(numberOf);
  if (north == null || east == null || Math.abs(north) > 90 || Math.abs(east) > 180) return null;
  return {
    latitude: north,
    longitude: east,
    name: name?.slice(0, maxName) ?? null,
    address: address?.slice(0, maxName) ?? null,
  };
};

export const maxName = 1_000;

/** A number, also one that is written as a text; null for anything else. */
const numberOf = (given: unknown): number | null => {
  if (typeof given !== "number" && (typeof given !== "string" || given.trim() === "")) return null;
  const number = Number(given);
  return Number.isFinite(number) ? number : null;
};

/** What was chosen of what we offered; null without an id or title. */
export const choiceOf = (given: unknown, idName = "id", titleName = "title"): InboundContent["button"] => {
  const title = textOf(given, titleName);
  const id = textOf(given, idName) ?? title;
  return id === null ? null : { id: id.slice(0, maxName), title: (title ?? id).slice(0, maxName) };
};

/** One item of an order; an empty list for what is none. */
export const itemOf = (given: unknown): OrderItem[] => {
  const productId = textOf(given, "product_retailer_id");
  const quantity = numberOf(memberOf(given, "quantity"));
  if (productId === null || quantity === null) return [];
  const price = numberOf(memberOf(given, "item_price"));
  return [
    {
      productId: productId.slice(0, maxName),
      quantity,
      price,
      currency: textOf(given, "currency")?.slice(0, 3) ?? null,
    },
  ];
};

/** What kind of file a type of content is. */
export const mediaTypeOf = (mimeType: string | null): InboundMedia["type"] => {
  const [kind] = (mimeType ?? "").toLowerCase().split("/");
  return kind === "image" || kind === "video" || kind === "audio" ? kind : "document";
};
