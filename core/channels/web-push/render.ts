import { localised } from "../../domain/messages/languages.ts";
import type { Content, Options } from "../../schema/messages/notification.ts";
import { headerText } from "../kit/header-text.ts";
import { lastKept, reportWithinSeconds } from "../kit/push.ts";
import type { Rendering } from "../kit/rendering.ts";

/** One web push, shared by the recipients of a language. `payload` lacks only the recipient's `delivery_id`. */
export type WebPushMessage = {
  payload: ReturnType<typeof payloadOf>;
  ttlSeconds: number;
  /** Source: RFC 8030 5.3. */
  urgency: "normal" | "high";
  topic: string | null;
};

/** Largest plaintext: 4,096 bytes of body less 86 of header, 16 of tag, 1 of padding delimiter. Source: RFC 8291 4. */
export const maxWebPushBytes = 3993;

/** Renders a message for browsers. */
export const renderWebPush = lastKept(
  ({ content, options, ttlSeconds, ...rest }): WebPushMessage => ({
    payload: payloadOf({ content, options, ...rest }),
    ttlSeconds,
    urgency: (options.priority ?? (content.content_available === true ? 5 : 10)) === 10 ? "high" : "normal",
    topic: topicOf(content, options),
  }),
);

/** What the service worker of a site receives, as JSON; members without a value are left out. */
const payloadOf = ({ messageId, content, options, language, recipients }: Omit<Rendering, "ttlSeconds">) => ({
  message_id: messageId,
  title: localised(content.headings, language),
  body: localised(content.contents, language),
  icon: content.chrome_web_icon,
  image: content.chrome_web_image ?? content.big_picture,
  badge: content.chrome_web_badge,
  /** Where a click leads. */
  url: content.url,
  data: content.data,
  actions: (content.web_buttons ?? content.buttons)?.map(({ id, text, icon, url }) => ({
    action: id,
    title: text,
    icon,
    url,
  })),
  require_interaction: content.require_interaction,
  /** A later notification of the same tag replaces this one. */
  tag: options.collapse_id,
  report_within_s: reportWithinSeconds(recipients),
});

/** The plaintext for one recipient. */
export const webPushBody = ({ payload }: WebPushMessage, deliveryId: string): string =>
  JSON.stringify({ ...payload, delivery_id: deliveryId });

/** Where a click leads that is counted on its way; null for what is no address to lead to. */
export type ClickAddress = (deliveryId: string, to: string) => string | null;

/**
 * The same as declarative web push, too: a browser that knows it shows `notification` without a script, and a click leads
 * over `navigate`. Without an address to lead to, or where both do not fit, it is as {@link webPushBody} has it.
 * Source: Push API, 3.4 (declarative push messages); docs/payloads.md#web-push.
 */
export const declarativeBody = (message: WebPushMessage, deliveryId: string, address: ClickAddress): string => {
  const { payload } = message;
  const navigate = payload.url === undefined ? null : address(deliveryId, payload.url);
  if (navigate === null) return webPushBody(message, deliveryId);
  const { title, body, icon, tag } = payload;
  const actions = payload.actions?.map(({ action, title: text, url }) => ({
    action,
    title: text,
    navigate: (url === undefined ? null : address(deliveryId, url)) ?? navigate,
  }));
  const shown = { title: title ?? body ?? "", body: title === undefined ? undefined : body, icon, tag, actions };
  const own = { ...payload, delivery_id: deliveryId };
  const both = JSON.stringify({ web_push: 8030, notification: { ...shown, navigate }, ...own });
  return Buffer.byteLength(both) > maxWebPushBytes ? webPushBody(message, deliveryId) : both;
};

/** A topic has at most 32 characters of URL-safe base64. RFC 8030 5.4. */
const topicOf = ({ web_push_topic: topic }: Content, { collapse_id: collapseId }: Options): string | null =>
  headerText(topic || collapseId, /^[A-Za-z0-9_-]{1,32}$/, 32);
