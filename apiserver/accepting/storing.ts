import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { makeEvent } from "#core/domain/events/make.ts";
import { newId } from "#core/domain/ids.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Messages } from "#core/storage/messages/messages.ts";
import { messageEventData } from "#core/storage/messages/view.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import type { Caller } from "../access/caller.ts";
import { inProgress, keyReused } from "../http/idempotency-key.ts";
import type { Quota } from "../limits/quota.ts";

export type StoringDeps = {
  messages: Pick<Messages, "insert" | "findByKey" | "releaseKey">;
  quota: Quota;
  /** Publishes a hint to the dispatchers and the events, without being waited for: else the timers do within 10 s. */
  publish: (row: MessageRow) => void;
  count: CountAccepted;
  clock: Clock;
};

/** Counts a message of a tenant by how it was accepted. */
export type CountAccepted = (outcome: "created" | "replayed", tenantId: string) => void;

/** Who asks for a message, and the key that makes repeats of the request one message. */
export type AskedMessage = {
  caller: Caller;
  app: AppRow;
  key: string | undefined;
  /** What the key is unique within, besides the app; left out for `POST /v1/notifications`. */
  operation?: string;
  fingerprint: string;
  traceparent: string;
};

/** `replayed`: the key was used before, and this is the message that it made. */
export type Stored = { row: MessageRow; replayed: boolean; mismatch: boolean };

/** What is known of a message that is about to be stored. */
export type Begun = {
  id: string;
  reserved: MessageRow["reserved"];
  /** By this process's clock. */
  now: Date;
  /** When it was made, which its id names, too: later than `now` when it has to come after one by a clock ahead. */
  madeAt: Date;
};

/** A message to store. */
export type NewMessage = {
  /** Its deliveries. */
  count: number;
  /** Called once its quota is reserved; that is given back when it throws. */
  make: (begun: Begun) => MessageRow | Promise<MessageRow>;
  /** When the message was made that this one has to come after; messages are in the order of their ids. */
  after?: Date | null;
};

const memoryMs = dayMs; // docs/reference/requests.md#idempotency

/** The message that used this key; one that is older than the memory gives the key away. @throws AppError HS_IDEMPOTENCY_KEY_REUSED */
export const remembered = async (
  { messages, count, clock }: StoringDeps,
  asked: AskedMessage,
  signal: AbortSignal,
): Promise<Stored | null> => {
  const before = await byKey(messages, asked, signal);
  if (before === null) return null;
  if (clock.now().getTime() - before.created_at.getTime() < memoryMs) return replay(before, asked, count);
  await messages.releaseKey(asked.caller.tenant._id, before._id);
  return null;
};

const byKey = async (
  messages: StoringDeps["messages"],
  { caller, app, key, operation }: AskedMessage,
  signal: AbortSignal,
): Promise<MessageRow | null> =>
  key === undefined
    ? null
    : messages.findByKey({ tenantId: caller.tenant._id, appId: app._id }, { key, operation }, signal);

const replay = (
  before: MessageRow,
  { caller, app, fingerprint }: AskedMessage,
  count: StoringDeps["count"],
): Stored => {
  const mismatch = before.fingerprint !== fingerprint;
  if (mismatch && app.idempotency_mismatch === "reject") {
    throw keyReused("message", { key: before.idempotency_key, message_id: before._id });
  }
  count("replayed", caller.tenant._id);
  return { row: before, replayed: true, mismatch };
};

/**
 * Stores a message: one document, written once, with what it may use of the quota.
 * @throws AppError HS_QUOTA_EXCEEDED, HS_IDEMPOTENCY_IN_PROGRESS
 */
export const storeNew = async (
  deps: StoringDeps,
  asked: AskedMessage,
  { count, make, after = null }: NewMessage,
  signal: AbortSignal,
): Promise<Stored> => {
  const now = deps.clock.now();
  const madeAt = new Date(Math.max(now.getTime(), after === null ? 0 : after.getTime() + 1));
  const id = newId("message", madeAt);
  const reserved = await deps.quota.reserve(asked.caller, { id, count }, now);
  const withdraw = (): Promise<void> => deps.quota.withdraw({ _id: id, tenant_id: asked.caller.tenant._id, reserved });
  const made = await unlessThrown(async () => make({ id, reserved, now, madeAt }), withdraw);
  const row = { ...made, outbox: [queuedEvent(made)] };
  if (await deps.messages.insert(row)) {
    deps.quota.confirm(row);
    deps.publish(row);
    deps.count("created", row.tenant_id);
    return { row, replayed: false, mismatch: false };
  }
  await withdraw();
  const winner = await byKey(deps.messages, asked, signal);
  if (winner !== null) return replay(winner, asked, deps.count);
  throw inProgress();
};

const unlessThrown = async <T>(make: () => Promise<T>, undo: () => Promise<void>): Promise<T> => {
  try {
    return await make();
  } catch (error) {
    await undo();
    throw error;
  }
};

/** What every message begins with. */
export const messageOf = (
  { caller, app, key, operation, fingerprint, traceparent }: AskedMessage,
  { id, reserved, now, madeAt }: Begun,
) => ({
  _id: id,
  tenant_id: caller.tenant._id,
  app_id: app._id,
  plan: caller.plan._id,
  source: "api" as const,
  status: "queued" as const,
  ...(key !== undefined && { idempotency_key: key, ...(operation !== undefined && { operation }) }),
  fingerprint,
  labels: [],
  counts: {},
  requested_by: { type: "api_key" as const, id: caller.key._id },
  error: null,
  reserved,
  planned: false,
  scheduled_for: null,
  started_at: null,
  completed_at: null,
  created_at: madeAt,
  updated_at: madeAt,
  outbox: [],
  traceparent,
  due_at: sweepAfter(now),
  lease: null,
  fence: 0,
});

const queuedEvent = (row: MessageRow) =>
  makeEvent({
    kind: "message.queued",
    appId: row.app_id,
    subjectId: row._id,
    at: row.created_at,
    from: [row._id],
    data: messageEventData(row),
  });
