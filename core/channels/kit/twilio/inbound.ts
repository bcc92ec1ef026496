import { wordOf } from "../../../domain/suppressions/words.ts";
import { UnreadableCallback } from "../callbacks.ts";
import {
  type Inbound,
  type InboundContent,
  type InboundMedia,
  inboundMessage,
  maxInboundParts,
  maxName,
  mediaTypeOf,
  placeOf,
  said,
} from "../inbound.ts";
import { checkPhone } from "../phone.ts";

/** What addresses on WhatsApp begin with. */
export const whatsappPrefix = "whatsapp:";

/** The value of a member of Twilio's form by its name; "" without it. */
export type Members = (name: string) => string;

/**
 * A message of a person. One over WhatsApp, whose addresses have that before them, is read from accounts of WhatsApp alone, and left
 * out when its number is kept from us.
 * Sources: twilio.com/docs/messaging/guides/webhook-request, twilio.com/docs/whatsapp/buttons, twilio.com/docs/rcs.
 * @throws UnreadableCallback
 */
export const inboundIn = (members: Members, receivedAt: Date, isWhatsapp = false): Inbound[] => {
  const providerId = members("MessageSid");
  if (providerId === "") throw new UnreadableCallback("an inbound message without MessageSid");
  const from = members("From");
  if (from.startsWith(whatsappPrefix) !== isWhatsapp) return [];
  const address = from.replace(isWhatsapp ? whatsappPrefix : "rcs:", "");
  if (isWhatsapp && !checkPhone(address).ok) return [];
  return [
    inboundMessage({
      providerId,
      address,
      sender: members("To").replace(isWhatsapp ? whatsappPrefix : "", "") || null,
      at: receivedAt,
      word: wordIn(members),
      name: members("ProfileName").slice(0, maxName) || null,
      replyTo: members("OriginalRepliedMessageSid") || null,
      isFromAd: members("ReferralSourceId") !== "",
      content: contentOf(members),
    }),
  ];
};

const contentOf = (members: Members): InboundContent => {
  const text = members("Body");
  const button = chosen(members("ButtonPayload") || members("ButtonText"), members("ButtonText"));
  if (button !== null) return said("button_reply", button.title, { button });
  const row = chosen(members("ListId"), members("ListTitle"));
  if (row !== null) return said("list_reply", row.title, { button: row });
  const name = members("Label") || null;
  const location = placeOf(members("Latitude"), members("Longitude"), { name, address: members("Address") || null });
  if (location !== null) return said("location", text || name, { location });
  const media = mediaIn(members);
  if (media.length > 0) return said("media", text, { media });
  return text === "" ? said("unsupported", null) : said("text", text);
};

const chosen = (id: string, title: string): InboundContent["button"] =>
  id === "" ? null : { id: id.slice(0, maxName), title: (title || id).slice(0, maxName) };

const mediaIn = (members: Members): InboundMedia[] => {
  const count = Math.min(Number(members("NumMedia")) || 0, maxInboundParts);
  return Array.from({ length: count }).flatMap((_, n) => {
    const [url, mimeType] = [members(`MediaUrl${n}`), members(`MediaContentType${n}`) || null];
    return url === "" ? [] : [{ type: mediaTypeOf(mimeType), url, id: null, filename: null, mimeType }];
  });
};

/** What Twilio's Advanced Opt-Out understood, else the text. Source: twilio.com/docs/messaging/tutorials/advanced-opt-out. */
const wordIn = (members: Members): Inbound["word"] => {
  switch (members("OptOutType")) {
    case "STOP":
      return "stop";
    case "START":
      return "start";
    case "HELP":
      return "help";
    default:
      return wordOf(members("Body"));
  }
};
