import { impossible } from "#core/channels/content.ts";
import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { makeEvent } from "#core/domain/events/make.ts";
import { newId } from "#core/domain/ids.ts";
import { refuse } from "#core/errors.ts";
import type { CreateNotificationResult } from "#core/schema/messages/message.ts";
import type { CreateNotification } from "#core/schema/messages/notification.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Messages } from "#core/storage/messages/messages.ts";
import { messageEventData } from "#core/storage/messages/view.ts";
import type { Audience } from "#core/storage/people/subscription-counts.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import type { Caller } from "../access/caller.ts";
import { inProgress, keyReused } from "../http/idempotency-key.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { Quota } from "../limits/quota.ts";
import { audienceOf, configuredOf, requireChannels } from "./audience.ts";
import { type Draft, draftOf } from "./draft.ts";
import { type Estimate, missingOf } from "./estimate.ts";

export type AcceptDeps = {
  messages: Pick<Messages, "insert" | "findByKey" | "releaseKey">;
  estimate: (audience: Audience, target: Draft["target"]) => Promise<Estimate>;
  /** The HTML of an app's `email_mjml`. @throws ValidationError for one that is wrong */
  compile: (appId: string, mjml: string) => Promise<string>;
  quota: Quota;
  /** Publishes a hint to the dispatchers and the events, without being waited for: else the timers do within 10 s. */
  publish: (row: MessageRow) => void;
  count: (outcome: "created" | "replayed") => void;
  clock: Clock;
};

export type AcceptRequest = {
  caller: Caller;
  app: AppRow;
  body: CreateNotification;
  key: string | undefined;
  traceparent: string;
};

/** Limits an app's messages over all its keys: the plan's rate, and 100 a second where that is less. Source: docs/reference/limits.md#narrow-rates. */
export const notificationLimit =
  (limit: NarrowLimit) =>
  ({ plan }: Caller, app: AppRow): Promise<void> =>
    limit("notifications.create", app._id, { calls: Math.max(leastPerSecond, plan.api_rps), seconds: 1 });

const leastPerSecond = 100;

/** `replayed`: the key was used before, and this is what was answered then. */
export type Accepted = { result: CreateNotificationResult; replayed: boolean; mismatch: boolean };

/** Accepts a notification: one document, written once. Repeating a key within 24 hours gives the first reply again. */
export const accept =
  (deps: AcceptDeps) =>
  async (request: AcceptRequest, signal: AbortSignal): Promise<Accepted> => {
    const { app, key } = request;
    const draft = draftOf(request.body, deps.clock.now());
    const channels = configuredOf(app, draft);
    refuse(impossible(draft, channels));
    const html = await mailHtml(deps, app, draft, channels);
    const [before, estimate] = await Promise.all([
      key === undefined ? null : remembered(deps, request, key, signal),
      deps.estimate(audienceOf(app, draft, channels), draft.target),
    ]);
    if (before === null) requireChannels(draft, channels);
    const accepted =
      before === null
        ? await keep(deps, request, { draft, channels, html, estimate }, signal)
        : replay(before, draft, app);
    deps.count(accepted.replayed ? "replayed" : "created");
    return accepted;
  };

const mailHtml = async (
  { compile }: AcceptDeps,
  app: AppRow,
  { content: { email_mjml: mjml } }: Draft,
  channels: readonly Channel[],
): Promise<string | undefined> =>
  mjml !== undefined && channels.includes("email") ? compile(app._id, mjml) : undefined;

const memoryMs = dayMs; // docs/reference/requests.md#idempotency

/** The message that used this key; one that is older than the memory gives the key away. */
const remembered = async (
  { messages, clock }: AcceptDeps,
  { caller, app }: AcceptRequest,
  key: string,
  signal: AbortSignal,
): Promise<MessageRow | null> => {
  const before = await messages.findByKey(caller.tenant._id, app._id, key, signal);
  if (before === null || clock.now().getTime() - before.created_at.getTime() < memoryMs) return before;
  await messages.releaseKey(caller.tenant._id, before._id);
  return null;
};

const replay = (before: MessageRow, draft: Draft, app: AppRow): Accepted => {
  const mismatch = before.fingerprint !== draft.fingerprint;
  if (mismatch && app.idempotency_mismatch === "reject") {
    throw keyReused("message", { key: before.idempotency_key, message_id: before._id });
  }
  return { result: resultOf(before), replayed: true, mismatch };
};

/** What was answered when the message was accepted, whatever has become of it since. */
const resultOf = ({ _id, accepted }: MessageRow): CreateNotificationResult => ({
  id: _id,
  status: "queued",
  ...accepted,
});

type Decided = { draft: Draft; channels: Channel[]; html: string | undefined; estimate: Estimate };

const keep = async (
  deps: AcceptDeps,
  request: AcceptRequest,
  decided: Decided,
  signal: AbortSignal,
): Promise<Accepted> => {
  const { caller, app, key } = request;
  const now = deps.clock.now();
  const id = newId("message", now);
  const reserved = await deps.quota.reserve(caller, { id, count: decided.estimate.recipients }, now);
  const row = rowOf(request, decided, { id, reserved, now });
  if (await deps.messages.insert(row)) {
    deps.quota.confirm(row);
    deps.publish(row);
    return { result: resultOf(row), replayed: false, mismatch: false };
  }
  await deps.quota.withdraw(row);
  const winner = key === undefined ? null : await deps.messages.findByKey(caller.tenant._id, app._id, key, signal);
  if (winner !== null) return replay(winner, decided.draft, app);
  throw inProgress();
};

type Begun = { id: string; reserved: MessageRow["reserved"]; now: Date };

const rowOf = (request: AcceptRequest, decided: Decided, { id, reserved, now }: Begun): MessageRow => {
  const { caller, app, key, traceparent } = request;
  const { draft, channels, html, estimate } = decided;
  const row: MessageRow = {
    _id: id,
    tenant_id: caller.tenant._id,
    app_id: app._id,
    plan: caller.plan._id,
    source: "api",
    status: "queued",
    ...(key !== undefined && { idempotency_key: key }),
    fingerprint: draft.fingerprint,
    accepted: { recipients_estimate: estimate.recipients, ...missingOf(estimate) },
    name: draft.name,
    labels: draft.labels,
    category: draft.category,
    content: draft.content,
    ...(html !== undefined && { email_html: html }),
    target: draft.target,
    channels,
    options: draft.options,
    counts: {},
    requested_by: { type: "api_key", id: caller.key._id },
    error: null,
    reserved,
    planned: false,
    scheduled_for: draft.scheduledFor,
    started_at: null,
    completed_at: null,
    created_at: now,
    updated_at: now,
    outbox: [],
    traceparent,
    due_at: draft.scheduledFor ?? sweepAfter(now),
    lease: null,
    fence: 0,
  };
  return { ...row, outbox: [queuedEvent(row)] };
};

const queuedEvent = (row: MessageRow) =>
  makeEvent({
    kind: "message.queued",
    appId: row.app_id,
    subjectId: row._id,
    at: row.created_at,
    from: [row._id],
    data: messageEventData(row),
  });
