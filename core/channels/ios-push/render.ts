import { localised } from "../../domain/messages/languages.ts";
import type { Content } from "../../schema/messages/notification.ts";
import { badgeChangeOf } from "../kit/badge.ts";
import { headerText } from "../kit/header-text.ts";
import { lastKept, reportWithinSeconds } from "../kit/push.ts";
import type { Rendering } from "../kit/rendering.ts";
import { renderLiveActivity } from "./live-activity.ts";
import type { ApnsPush } from "./push.ts";

/** Largest payload, bytes. Source: Apple, "Generating a remote notification". */
export const maxApnsBytes = 4096;

/**
 * Renders a message for Apple devices: Apple's own members in `aps`, the sender's `data` under `data`, and what the
 * app's service extension needs under `herald` (links, buttons, attachments).
 * Without text, sound or badge it is a background push, which Apple admits with priority 5 only.
 * Source: Apple, "Generating a remote notification", "Sending notification requests to APNs".
 */
export const renderApns = lastKept((rendering: Rendering): ApnsPush => {
  const { content, options, language, ttlSeconds, live } = rendering;
  if (live !== undefined) return renderLiveActivity(live, rendering);
  const alert = alertOf(content, language);
  const isVisible = alert !== undefined || isHeardOrCounted(content);
  const aps = isVisible ? visibleAps(content, alert) : { "content-available": 1 };
  return {
    json: jsonOf(aps, rendering),
    pushType: isVisible ? "alert" : "background",
    priority: isVisible ? (options.priority ?? 10) : 5,
    ttlSeconds,
    collapseId: headerText(options.collapse_id, collapseIdAllowed),
  };
});

/** At most 64 bytes (Apple), printable ASCII without a space at either end (RFC 9110 5.5, RFC 9113 8.2.1). */
const collapseIdAllowed = /^(?=.{1,64}$)[!-~]([ -~]*[!-~])?$/;

/** The payload for one recipient. `badge` is what the app's icon shows then, of a message that adds to it. */
export const apnsBody = ({ json }: ApnsPush, deliveryId: string, badge = 0): string =>
  json.after === null
    ? json.before
    : (json.badge === "" ? "" : json.badge + badge) + json.before + deliveryId + json.after;

/** Stands for a badge where only the size counts. */
export const longestBadge = 9_999_999_999;

/** Members that are undefined are left out of the JSON, here and below. */
const alertOf = (content: Content, language: string | null): object | undefined => {
  const title = localised(content.headings, language) || undefined;
  const subtitle = localised(content.subtitle, language) || undefined;
  const body = localised(content.contents, language) || undefined;
  return (title ?? subtitle ?? body) === undefined ? undefined : { title, subtitle, body };
};

const isHeardOrCounted = (content: Content): boolean => Boolean(content.ios_sound) || badgeChangeOf(content) !== null;

const visibleAps = (content: Content, alert: object | undefined): Record<string, unknown> => ({
  badge: badgeOf(content), // first: see jsonOf
  alert,
  sound: soundOf(content, alert !== undefined),
  "thread-id": content.thread_id || undefined,
  category: content.ios_category || undefined,
  "content-available": content.content_available ? 1 : undefined,
  "mutable-content": content.mutable_content || needsExtension(content) ? 1 : undefined,
  "target-content-id": content.target_content_identifier || undefined,
  "interruption-level": content.ios_interruption_level,
  "relevance-score": content.ios_relevance_score,
});

/** 0 stands for one that is counted. */
const badgeOf = (content: Content): number | undefined => {
  const change = badgeChangeOf(content);
  if (change === null) return undefined;
  return "set" in change ? change.set : 0;
};

/** The default sound with any text; the empty name is silence. A critical alert names its volume. */
const soundOf = ({ ios_sound: name, ios_interruption_level: level }: Content, hasText: boolean): unknown => {
  const sound = name ?? (hasText && level !== "passive" ? "default" : undefined);
  if (!sound) return undefined;
  return level === "critical" ? { critical: 1, name: sound, volume: 1 } : sound;
};

/** The extension loads attachments and makes buttons. */
const needsExtension = (content: Content): boolean =>
  attachmentsOf(content) !== undefined || content.buttons !== undefined;

const attachmentsOf = ({ ios_attachments: attachments, big_picture: picture }: Content) =>
  attachments ?? (picture === undefined ? undefined : { big_picture: picture });

const jsonOf = (
  aps: Record<string, unknown>,
  { messageId, content, recipients }: Pick<Rendering, "messageId" | "content" | "recipients">,
): ApnsPush["json"] => {
  const herald = {
    message_id: messageId,
    url: content.url,
    app_url: content.app_url,
    buttons: content.buttons,
    attachments: attachmentsOf(content),
    report_within_s: reportWithinSeconds(recipients),
  };
  const rest = JSON.stringify(herald).slice(1);
  const json = JSON.stringify({ aps, data: content.data }).slice(0, -1);
  const badge = content.ios_badge_type === "Increase" ? `{"aps":{"badge":` : "";
  const before = badge === "" ? json : json.slice(`${badge}0`.length);
  return { badge, before: `${before},"herald":{"delivery_id":"`, after: `",${rest}}` };
};
