import { impossible, whySkipped } from "#core/channels/content.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { MessageAim } from "#core/domain/segments/aim.ts";
import { type FieldError, refuse } from "#core/errors.ts";
import type { CreateNotificationResult, SkippedChannel } from "#core/schema/messages/message.ts";
import type { CreateNotification } from "#core/schema/messages/notification.ts";
import { channels as allChannels, type Channel } from "#core/schema/vocabulary/channels.ts";
import type { PlanFeature } from "#core/schema/vocabulary/plan-features.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Messages } from "#core/storage/messages/messages.ts";
import type { Audience } from "#core/storage/people/subscription-counts.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import {
  type AcceptedMessage,
  type AcceptMessageDeps,
  acceptMessage,
  type BegunMessage,
  messageOf,
  repeatOfRefused,
} from "../accepting/accept-message.ts";
import type { MakeContacts } from "../accepting/make-contacts.ts";
import type { Caller } from "../access/caller.ts";
import type { AimOf } from "../audience/aim.ts";
import { audienceOf, configuredOf, requireChannels } from "../audience/audience.ts";
import { type Asked, type Estimate, missingOf } from "../audience/estimate.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { RequireFeature } from "../limits/plan-rules.ts";
import { type Draft, draftOf, fingerprintOfMessage } from "./draft.ts";
import type { TakeTemplate } from "./take-template.ts";
import { splitOf } from "./take-variants.ts";

export type AcceptDeps = AcceptMessageDeps &
  MakeContacts & {
    messages: Pick<Messages, "madeBehind">;
    estimate: (audience: Audience, target: Draft["target"], asked?: Asked) => Promise<Estimate>;
    aimOf: AimOf;
    /** The template that a message takes. @throws ValidationError */
    take: TakeTemplate;
    /** @throws AppError HS_PLAN_FEATURE_REQUIRED */
    requireFeature: RequireFeature;
    /** The HTML of an app's `email_mjml`. @throws ValidationError for one that is wrong */
    compile: (appId: string, mjml: string) => Promise<string>;
  };

export type AcceptRequest = {
  caller: Caller;
  app: AppRow;
  body: CreateNotification;
  key: string | undefined;
  traceparent: string;
  /** Of a reply: its conversation. */
  conversationId?: string;
  /** The id that it gets, which stands somewhere already. */
  id?: string | undefined;
  /** Stores what names the notification, right before that is stored itself: nothing refuses it any more. */
  before?: ((id: string) => Promise<void>) | undefined;
};

/** Limits an app's messages over all its keys: the plan's rate, and 100 a second where that is less. Source: docs/reference/limits.md#narrow-rates. */
export const notificationLimit =
  (limit: NarrowLimit) =>
  ({ plan }: Caller, app: AppRow): Promise<void> =>
    limit("notifications.create", app._id, plan.api_rps);

/** `replayed`: the key was used before, and this is what was answered then. */
export type Accepted = { result: CreateNotificationResult; replayed: boolean; mismatch: boolean };

/** Accepts a notification: one document, written once. Repeating a key within 24 hours gives the first reply again. */
export const accept =
  (deps: AcceptDeps) =>
  async (request: AcceptRequest, signal: AbortSignal): Promise<Accepted> => {
    const made = { ...request, fingerprint: fingerprintOfMessage(request.body) };
    try {
      return acceptedOf(await judgeAndAccept(deps, made, signal));
    } catch (error) {
      return acceptedOf(await repeatOfRefused(deps, made, error, signal));
    }
  };

const judgeAndAccept = async (
  deps: AcceptDeps,
  request: AcceptRequest & { fingerprint: string },
  signal: AbortSignal,
): Promise<AcceptedMessage> => {
  const { app } = request;
  await requireMembers(deps, request);
  const judged = await judge(deps, app, request.body);
  const { draft, channels, asked } = judged;
  const plan = {
    estimate: () => deps.estimate(audienceOf(app, draft, channels), draft.meant.target, asked),
    decide: async (estimate: Estimate) => {
      requireChannels({ ...draft, target: draft.meant.target }, channels);
      if (estimate.contacts.length > 0) await deps.requireRoom(request.caller, estimate.contacts);
      return {
        recipients: estimate.recipients,
        rowOf: async (begun: BegunMessage) => {
          if (estimate.contacts.length > 0) await deps.makeContacts(estimate.contacts);
          await request.before?.(begun.id);
          return rowOf(request, { ...judged, estimate }, begun);
        },
        after: await replaced(deps, app, draft),
      };
    },
  };
  return acceptMessage(deps, request, plan, signal);
};

/** A message that may be sent, as far as itself and what it names say. @throws ValidationError */
export const judge = async (deps: JudgeDeps, app: AppRow, body: CreateNotification): Promise<Judged> => {
  const taken = await deps.take(app, body.template_id);
  const draft = draftOf(body, deps.clock.now(), taken);
  const channels = configuredOf(app, draft);
  const later = { channels: draft.fallback, channelsAsked: draft.fallback };
  if (draft.fallback.length > 0) requireChannels(later, configuredOf(app, later));
  const over = draft.fallback.length === 0 ? channels : [...channels, ...draft.fallback];
  refuse(impossible(draft.meant, over, app.channels));
  if (isSplit(body)) refuse(redactedByApp(app));
  refuse(inboxClosed(app, draft));
  const split = isSplit(body) ? splitOf(body, { draft, channels: over, accounts: app.channels }, deps.clock.now()) : {};
  const html = await mailHtml(deps, app, draft, over);
  const aim = await deps.aimOf(app._id, draft.meant.target);
  const aimed = aim && { aim, at: draft.scheduledFor ?? deps.clock.now() };
  return { draft, channels, over, split, html, aim, asked: { aimed, onePerUser: draft.options.one_per_user === true } };
};

export type JudgeDeps = Pick<AcceptDeps, "take" | "aimOf" | "compile" | "clock">;

export type Judged = {
  draft: Draft;
  channels: Channel[];
  /** These and those that it falls back to. */
  over: Channel[];
  /** Its forms, where it has several. */
  split: Pick<MessageRow, "variants" | "winner">;
  html: string | undefined;
  aim: MessageAim | null;
  /** How its target is counted. */
  asked: Asked;
};

/** The members of a notification that need a feature of the plan. Source: docs/reference/limits.md#plan-features. */
export const memberFeatures = {
  ab_testing: ["variants", "winner"],
  optimized_delivery: ["delayed_option: optimized"],
} as const satisfies Partial<Record<PlanFeature, readonly string[]>>;

/** @throws AppError HS_PLAN_FEATURE_REQUIRED for a message that the caller's plan has no room for */
export const requireMembers = async (
  { requireFeature }: Pick<AcceptDeps, "requireFeature">,
  { caller, body }: { caller: Pick<Caller, "plan">; body: CreateNotification },
): Promise<void> => {
  if (isSplit(body)) await requireFeature(caller, "ab_testing");
  if (body.delayed_option === "optimized") await requireFeature(caller, "optimized_delivery");
};

/** An app may have no inboxes, and may keep nothing of what it says. */
const inboxClosed = (app: AppRow, { options }: Draft): FieldError[] => {
  if (options.add_to_inbox !== true) return [];
  const field = "add_to_inbox";
  if (!settingsOf(app).inbox.enabled) return [{ field, message: "needs the app's setting inbox.enabled" }];
  return app.redact_payloads === true ? [{ field, message: "cannot be combined with the app's redact_payloads" }] : [];
};

const isSplit = ({ variants = [], winner = null }: CreateNotification): boolean =>
  variants.length > 0 || winner !== null;

/** What variants say is shown with their counters. */
const redactedByApp = ({ redact_payloads: isRedacted }: AppRow): FieldError[] =>
  isRedacted === true ? [{ field: "variants", message: "cannot be combined with the app's redact_payloads" }] : [];

/** When the newest message was made that one with a collapse id may replace: the later of two ids takes the other's place. */
const replaced = async ({ messages, clock }: AcceptDeps, app: AppRow, { options }: Draft): Promise<Date | null> =>
  options.collapse_id ? messages.madeBehind({ tenantId: app.tenant_id, appId: app._id }, clock.now()) : null;

/** What its own MJML becomes: its template's was compiled when that was published. */
const mailHtml = async (
  { compile }: Pick<AcceptDeps, "compile">,
  app: AppRow,
  { content: { email_mjml: mjml } }: Draft,
  channels: readonly Channel[],
): Promise<string | undefined> => (mjml && channels.includes("email") ? compile(app._id, mjml) : undefined);

/** What was answered when the message was accepted, whatever has become of it since. */
const acceptedOf = ({ row: { _id, accepted }, ...repeat }: AcceptedMessage): Accepted => ({
  result: { id: _id, status: "queued", ...accepted },
  ...repeat,
});

type Decided = Omit<Judged, "asked"> & { estimate: Estimate };

/** The app's channels that a message which names none does not go over. */
export const skippedBy = (app: AppRow, { channelsAsked, channels, fallback, meant }: Draft): SkippedChannel[] =>
  configuredOf(app, { channels: channelsAsked === null ? allChannels : [] }).flatMap((channel) => {
    const reason = [...channels, ...fallback].includes(channel) ? null : whySkipped(channel, meant.content);
    return reason === null ? [] : [{ channel, reason }];
  });

/** 0 asks for no throttle, also where the app has a default. */
const throttleOf = (app: AppRow, { options }: Draft): Pick<MessageRow, "throttle_per_minute"> => {
  if (options.test === true) return {};
  const rate = options.throttle_rate_per_minute ?? app.throttle_default ?? 0;
  return rate === 0 ? {} : { throttle_per_minute: rate };
};

/** What is stored of it. */
export const rowOf = (request: AcceptRequest, decided: Decided, begun: BegunMessage): MessageRow => {
  const { caller, app, key, traceparent } = request;
  const { draft, channels, split, html, aim, estimate } = decided;
  const skipped = skippedBy(app, draft);
  return {
    ...messageOf({ caller, app, key, traceparent, fingerprint: draft.fingerprint }, begun),
    accepted: {
      recipients_estimate: estimate.recipients,
      ...missingOf(estimate),
      ...(skipped.length > 0 && { skipped_channels: skipped }),
    },
    source: draft.source,
    ...(draft.campaignId !== null && { campaign_id: draft.campaignId }),
    ...(request.conversationId !== undefined && { conversation_id: request.conversationId }),
    name: draft.name,
    labels: draft.labels,
    category: draft.category,
    content: draft.content,
    ...(draft.taken && { template_id: draft.taken.template_id, template_version: draft.taken.version }),
    ...(html !== undefined && { email_html: html }),
    target: draft.target,
    ...(aim !== null && { aim, segment_ids: aim.segments.map(({ _id }) => _id) }),
    channels,
    options: app.redact_payloads === true ? { ...draft.options, redact_payload: true } : draft.options,
    ...throttleOf(app, draft),
    ...split,
    scheduled_for: draft.scheduledFor,
    due_at: draft.scheduledFor ?? sweepAfter(begun.now),
  };
};
