import { contactErrors, contactsOf } from "#core/channels/contacts.ts";
import { channelsAsked, channelsWithContent, emptyTexts, hasContent } from "#core/channels/content.ts";
import { hasInboxText } from "#core/domain/inbox/item.ts";
import { meantBy, saidIn } from "#core/domain/messages/neutral.ts";
import { dueAtOf } from "#core/domain/messages/send-after.ts";
import { type FieldError, refuse } from "#core/errors.ts";
import type { Message } from "#core/schema/messages/message.ts";
import { Content, type CreateNotification, Options, type Target } from "#core/schema/messages/notification.ts";
import type { ReplyContent } from "#core/schema/messages/reply-content.ts";
import { channels as allChannels, type Channel } from "#core/schema/vocabulary/channels.ts";
import { selectors } from "../audience/audience.ts";
import { fingerprintOf } from "../http/idempotency-key.ts";
import { beforeFallback } from "./fallback.ts";
import { mergedWith, type Taken } from "./take-template.ts";
import { unsupported } from "./unsupported.ts";

type MessageSource = Message["source"];

/** A notification that is sound in itself: what remains to be asked is whether it may be sent now. */
export type Draft = ReturnType<typeof draftOf>;

/** Checks what a schema cannot say, and sorts the members into their groups. Names every failing member at once. */
export const draftOf = (body: CreateNotification, now: Date, taken: Taken | null = null) => {
  const content = contentOf(body);
  const merged = taken === null ? { content, errors: [] } : mergedWith(content, taken);
  const options: Options = pick(body, Object.keys(Options.properties));
  const due = dueAtOf(options.send_after, now);
  const target = options.test === true ? { ...body.target, test_devices_only: true } : body.target;
  const meant = { content: saidIn(merged.content), options, target: meantBy(target) };
  const { fallback: steps = [] } = options;
  const over = channelsOf(meant, taken?.channels ?? null);
  const { channels, asked, errors } = steps.length === 0 ? over : beforeFallback(over, steps, meant);
  const problems = [
    ...unsupported(body),
    ...targetErrors(body.target),
    ...merged.errors,
    ...errors,
    ...timeErrors(options),
    ...redactionErrors(body),
    ...inboxErrors(options, meant.content),
    ...("problem" in due ? [{ field: "send_after", message: due.problem }] : []),
  ];
  refuse(problems);
  return {
    content,
    taken,
    options,
    target,
    /** The same without what asks for nothing. */
    meant,
    name: body.name ?? null,
    labels: body.labels ?? [],
    category: body.category ?? null,
    campaignId: body.campaign_id ?? null,
    source: sourceOf(body),
    /** Null: those that have content. */
    channelsAsked: asked,
    /** Of every channel that it may go over. */
    channels,
    /** Those that it goes over to whom it did not reach. */
    fallback: steps.map(({ channel }) => channel),
    /** Null: now. */
    scheduledFor: "at" in due ? due.at : null,
    fingerprint: fingerprintOfMessage(body),
  };
};

/** What variants say is shown with their counters. */
const redactionErrors = ({ redact_payload: isRedacted, variants = [] }: CreateNotification): FieldError[] =>
  isRedacted === true && variants.length > 0
    ? [{ field: "redact_payload", message: "cannot be combined with variants" }]
    : [];

/** What cannot be kept in an inbox. Source: docs/reference/inbox.md. */
const inboxErrors = (
  { add_to_inbox: isAsked, inbox_ttl: ttl, redact_payload: isRedacted }: Options,
  content: Content,
): FieldError[] => {
  if (isAsked !== true) return ttl === undefined ? [] : [{ field: "inbox_ttl", message: "needs add_to_inbox" }];
  const hasText = hasInboxText(content);
  return [
    ...(hasText
      ? []
      : [{ field: "contents", message: "is required with add_to_inbox, or headings: an item shows them" }]),
    ...(isRedacted === true ? [{ field: "add_to_inbox", message: "cannot be combined with redact_payload" }] : []),
  ];
};

/** A try is one, whatever it is a part of. */
const sourceOf = ({ test: isTest, campaign_id: campaignId }: CreateNotification): MessageSource => {
  if (isTest === true) return "test";
  return campaignId === undefined ? "api" : "campaign";
};

/** What a schema cannot say of when recipients are sent to. Source: docs/reference/timing.md. */
export const timeErrors = (options: Options): FieldError[] => {
  const { delayed_option: option, delivery_time_of_day: time, optimized_control_percent: percent } = options;
  return [
    ...(time !== undefined && option !== "timezone" ? [needs("delivery_time_of_day", "timezone")] : []),
    ...(percent !== undefined && option !== "optimized" ? [needs("optimized_control_percent", "optimized")] : []),
  ];
};

const needs = (field: string, value: string): FieldError => ({
  field,
  message: `needs delayed_option to be "${value}"`,
});

/** The members of a body that say something. Those of replies in conversations no request has. */
export const contentOf = (body: object): Content => pick(body, [...Object.keys(Content.properties), ...ofReplies]);

const ofReplies = ["whatsapp_reply", "email_reply", "email_files"] as const satisfies readonly (keyof ReplyContent)[];

export const pick = (body: object, names: readonly string[]): Record<string, never> => {
  const given = new Map(Object.entries(body));
  const entries = names.filter((name) => given.has(name)).map((name) => [name, given.get(name)]);
  return Object.fromEntries(entries) as Record<string, never>; // sound: the names are the group's own
};

/** What a schema cannot say of a target: someone has to be targeted. Source: docs/reference/messages.md#targets. */
export const targetErrors = (target: Target): FieldError[] => {
  const meant = meantBy(target);
  const { included_segments: segments, filters } = meant;
  const isByIds = selectors.some((selector) => meant[selector] !== undefined);
  const isSelecting = target.all === true || isByIds || segments !== undefined || filters !== undefined;
  return [
    ...contactErrors(target),
    ...(isSelecting ? [] : [{ field: "target", message: "must name whom to send to" }]),
  ];
};

/** Addresses on a channel that the message does not go over. */
const unreachedError = (channel: Channel): FieldError => ({
  field: channel === "email" ? "target.email_to" : "target.include_phone_numbers",
  message: `goes by ${channel}, which is not among the message's channels or has no content in it`,
});

type Channels = { channels: Channel[]; asked: Channel[] | null; errors: FieldError[] };

/** The channels that a message may go over, and what is wrong with its content on them. */
export const channelsOf = (
  { target, content }: { target: Target; content: Content },
  ofTemplate: readonly Channel[] | null = null,
): Channels => {
  const asked = channelsAsked(target);
  const usual = ofTemplate?.filter((channel) => hasContent(channel, content)) ?? channelsWithContent(content);
  const ofContacts = [...new Set(contactsOf(target).map(({ channel }) => channel))];
  const isNamed = (channel: Channel): boolean =>
    ofContacts.some((one) => one === channel) && hasContent(channel, content);
  const channels = asked ?? allChannels.filter((channel) => usual.includes(channel) || isNamed(channel));
  const silent = asked?.find((channel) => !hasContent(channel, content));
  if (silent !== undefined) {
    const field = `target.channels[${target.channels?.indexOf(silent)}]`;
    return { channels, asked, errors: [{ field, message: "has no content in this message" }] };
  }
  const unreached = ofContacts.find((channel) => !channels.includes(channel));
  if (unreached !== undefined) return { channels, asked, errors: [unreachedError(unreached)] };
  const isEmpty = channels.length === 0 && target.channels === undefined;
  const message =
    "is required, or another content: headings, data, content_available, email_subject with email_body, " +
    "sms_media_urls, rcs_card, rcs_content_sid, or one of whatsapp_…";
  return { channels, asked, errors: isEmpty ? [{ field: "contents", message }] : emptyTexts(content, channels) };
};

/** What tells the request from others under its key. */
export const fingerprintOfMessage = (body: CreateNotification): string =>
  fingerprintOf({ ...body, idempotency_key: undefined });
