import { localised } from "../../domain/messages/languages.ts";
import type { Content } from "../../schema/messages/notification.ts";
import { badgeChangeOf } from "../kit/badge.ts";
import { reportWithinSeconds } from "../kit/push.ts";
import type { Rendering } from "../kit/rendering.ts";

/** One push to Huawei devices, shared by the recipients of a language; `hmsBody` adds what is their own. */
export type HmsPush = {
  messageId: string;
  /** Push Kit's message as JSON, cut where its tag and a badge that is counted belong; `end` is "" without such a badge. */
  json: { begin: string; middle: string; end: string };
};

/** What belongs to the recipients of one request. */
export type HmsRecipients = {
  tokens: readonly string[];
  /** Push Kit's receipts bring it back: the id of the delivery, or of the message where many recipients share a request. */
  tag: string;
  /** What the app's icon shows then, of a message that adds to it. */
  badge?: number | undefined;
};

/** The largest badge that Push Kit sets. */
export const longestBadge = 99;

/** Largest request without its tokens, bytes. Source: Huawei, Push Kit, "Sending Downlink Messages". */
export const maxHmsBytes = 4096;

/**
 * Renders a message for Push Kit. It shows what it has members for; what it has none for goes to the app as JSON in the
 * member `herald` of the data, beside the sender's own. Without text it is a data message, which shows nothing. Many
 * recipients may share a request, so that its data names the message and no delivery. `badgeClass` is the activity whose
 * badge is set; null when the account names none.
 * Source: Huawei, Push Kit, "Sending Downlink Messages"; docs/reference/channels.md#priority.
 */
export const renderHms = (rendering: Rendering, badgeClass: string | null): HmsPush => {
  const { messageId, content, options, language, ttlSeconds } = rendering;
  const [title, body] = [textOf(content.headings, language), textOf(content.contents, language)];
  const text = title ?? body;
  const notification = text === undefined ? undefined : { title: text, body: body ?? text }; // Push Kit demands both
  const android = {
    collapse_key: keepAll,
    urgency: text === undefined && options.priority === 10 ? "HIGH" : "NORMAL",
    ttl: `${Math.max(1, Math.min(ttlSeconds, maxTtlSeconds))}s`,
    notification: text === undefined ? undefined : { ...shown(rendering), badge: badgeOf(content, badgeClass) },
  };
  const common = JSON.stringify({ data: dataOf(rendering), notification }).slice(0, -1);
  const begin = `{"message":${common},"android":{"bi_tag":"`;
  return { messageId, json: { begin, ...cutAtBadge(`",${JSON.stringify(android).slice(1)}`) } };
};

/** A badge that is counted is the last member of all. */
const cutAtBadge = (json: string): { middle: string; end: string } => {
  const end = "}}}"; // of the badge, the notification and what is for Android
  const isCounted = json.endsWith(`null${end}`);
  return isCounted ? { middle: json.slice(0, -`null${end}`.length), end } : { middle: json, end: "" };
};

/** The body of a request. Its tokens are made of characters that JSON does not escape. */
export const hmsBody = (
  { json: { begin, middle, end } }: HmsPush,
  { tokens, tag, badge = 0 }: HmsRecipients,
): string => {
  const counted = end === "" ? "" : Math.min(badge, longestBadge) + end;
  return `${begin}${tag}${middle}${counted},"token":["${tokens.join('","')}"]}}`;
};

/** A device that is offline gets all messages later, not the last one alone, whatever they are about. */
const keepAll = -1;
const maxTtlSeconds = 1_296_000; // 15 days

const textOf = (texts: Record<string, string> | undefined, language: string | null): string | undefined =>
  localised(texts, language) || undefined;

/** Push Kit hands the app a text, which holds an object whose values are texts. */
const dataOf = ({ messageId, content, language, recipients }: Rendering): string => {
  const herald = {
    message_id: messageId,
    url: content.url,
    app_url: content.app_url,
    subtitle: textOf(content.subtitle, language),
    buttons: content.buttons,
    large_icon: content.large_icon || undefined,
    big_picture: content.big_picture,
    report_within_s: reportWithinSeconds(recipients),
  };
  return JSON.stringify({ ...content.data, herald: JSON.stringify(herald) });
};

const visibilities = { "1": "PUBLIC", "0": "PRIVATE", "-1": "SECRET" } as const;

const shown = ({ content, options: { collapse_id: collapseId }, language }: Rendering) => ({
  ...soundOf(content),
  click_action: clickOf(content),
  channel_id: content.android_channel_id || undefined,
  icon: content.small_icon && resourceOf(content.small_icon),
  color: content.android_accent_color && `#${content.android_accent_color.slice(2)}`, // without its opacity
  image: [content.large_icon, content.big_picture].find((picture) => picture?.startsWith("https:")),
  notify_summary: textOf(content.subtitle, language),
  group: content.android_group || undefined,
  tag: collapseId || undefined,
  visibility: content.android_visibility === undefined ? undefined : visibilities[`${content.android_visibility}`],
});

/** Push Kit finds what belongs to the app by its path below `/res`. */
const resourceOf = (name: string): string => (name.startsWith("/") ? name : `/raw/${name}`);

/** The empty name is silence, which is a notification of low importance. */
const soundOf = ({ android_sound: name }: Content): object => {
  if (name === "") return { importance: "LOW", default_sound: true };
  const isDefault = name === undefined || name === "default";
  return { importance: "NORMAL", ...(isDefault ? { default_sound: true } : { sound: resourceOf(name) }) };
};

/** Null stands for one that is counted. */
const badgeOf = (content: Content, badgeClass: string | null): object | undefined => {
  const change = badgeChangeOf(content);
  if (badgeClass === null || change === null) return undefined;
  return { class: badgeClass, set_num: "set" in change ? Math.min(change.set, longestBadge) : null };
};

/** A click leads into the app by its own link, else to the address, else it starts the app. */
const clickOf = ({ app_url: link, url }: Content): object => {
  if (link !== undefined) return { type: 1, intent: intentOf(link) };
  return url?.startsWith("https:") ? { type: 2, url } : { type: 3 };
};

/** A link as Android writes intents. Source: Android, `Intent.toUri` with `URI_INTENT_SCHEME`. */
const intentOf = (link: string): string => {
  const [, scheme = "", rest = ""] = /^([^:]*):(.*)$/s.exec(link) ?? [];
  return scheme === "intent" ? link : `intent:${rest}#Intent;scheme=${scheme};end`;
};
