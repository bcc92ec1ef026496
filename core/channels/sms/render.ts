import { localised } from "../../domain/messages/languages.ts";
import type { Rendering } from "../kit/rendering.ts";
import { type LinkedText, linkedText } from "./links.ts";

/** One SMS, or MMS when it has media, shared by the recipients of a language. */
export type SmsMessage = {
  body: LinkedText;
  /** Whether its links become short addresses of ours. */
  shortens: boolean;
  mediaUrls: readonly string[];
  /** The message's own sender; null: one of the account's. */
  from: string | null;
  ttlSeconds: number;
};

/** One SMS as one recipient gets it: with their own short links. */
export type SmsText = Pick<SmsMessage, "mediaUrls" | "from" | "ttlSeconds"> & { text: string };

/** The most that Twilio takes, and the contract of this service. Source: docs/reference/texts.md#text. */
export const maxSmsCharacters = 1600;

/** Renders a message for SMS. */
export const renderSms = ({ content, language, ttlSeconds }: Rendering): SmsMessage => ({
  body: linkedText(localised(content.contents, language) ?? ""),
  shortens: content.disable_sms_link_shortening !== true,
  mediaUrls: content.sms_media_urls ?? [],
  from: content.sms_from ?? null,
  ttlSeconds,
});
