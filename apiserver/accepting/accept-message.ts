import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { makeEvent } from "#core/domain/events/make.ts";
import { newId } from "#core/domain/ids.ts";
import { messageEventData } from "#core/domain/messages/views.ts";
import { AppError, errorStatuses } from "#core/errors.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Messages } from "#core/storage/messages/messages.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import type { Caller } from "../access/caller.ts";
import { inProgress, keyReused } from "../http/idempotency-key.ts";
import type { Quota } from "../limits/quota.ts";

export type AcceptMessageDeps = {
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
export type MessageRequest = {
  caller: Caller;
  app: AppRow;
  key: string | undefined;
  /** What the key is unique within, besides the app; left out for `POST /v1/notifications`. */
  operation?: string;
  fingerprint: string;
  traceparent: string;
  /** The id that it gets, which stands somewhere already. Left out: a new one. */
  id?: string | undefined;
};

/** How a kind of message is decided on: the steps that kinds differ in. */
export type MessagePlan<Counted> = {
  /** Counts whom it goes to. Begun at once, while the key is looked up; what it throws refuses repeats, too. */
  estimate: () => Promise<Counted>;
  /** Refuses a new message that may not be sent now; else says how many deliveries it has and what is stored of it. */
  decide: (counted: Counted) => Promise<DecidedMessage>;
};

export type DecidedMessage = {
  /** Its deliveries. */
  recipients: number;
  /** The message, once its quota is reserved; that is given back when it throws. */
  rowOf: (begun: BegunMessage) => MessageRow | Promise<MessageRow>;
  /** When the message was made that this one has to come after; messages are in the order of their ids. */
  after?: Date | null;
  /** What else is done once it is stored. */
  afterwards?: () => Promise<void>;
};

/** What is known of a message that is about to be stored. */
export type BegunMessage = {
  id: string;
  reserved: MessageRow["reserved"];
  /** By this process's clock. */
  now: Date;
  /** When it was made, which its id names, too: later than `now` when it has to come after one by a clock ahead. */
  madeAt: Date;
};

/** `replayed`: the key was used before, and this is the message that it made. */
export type AcceptedMessage = { row: MessageRow; replayed: boolean; mismatch: boolean };

/**
 * Accepts a message: one document, written once. Repeating a key within 24 hours gives the message that it made.
 * @throws AppError HS_QUOTA_EXCEEDED, HS_IDEMPOTENCY_IN_PROGRESS, HS_IDEMPOTENCY_KEY_REUSED, and what the plan throws
 */
export const acceptMessage = async <Counted>(
  deps: AcceptMessageDeps,
  request: MessageRequest,
  { estimate, decide }: MessagePlan<Counted>,
  signal: AbortSignal,
): Promise<AcceptedMessage> => {
  const [repeat, counted] = await Promise.all([findRepeat(deps, request, signal), estimate()]);
  if (repeat !== null) return repeat;
  const decided = await decide(counted);
  const begun = await reserve(deps, request, decided);
  const row = await insert(deps, request, decided, begun);
  if (row === null) return winnerOf(deps, request, signal);
  announce(deps, row);
  await decided.afterwards?.();
  return { row, replayed: false, mismatch: false };
};

/**
 * The message that the same request with its key made before, for one that is refused now: what it names may have been
 * removed since. @throws the refusal, when there is no such message
 */
export const repeatOfRefused = async (
  deps: AcceptMessageDeps,
  request: MessageRequest,
  refusal: unknown,
  signal: AbortSignal,
): Promise<AcceptedMessage> => {
  if (!(refusal instanceof AppError) || errorStatuses[refusal.code] >= 500) throw refusal;
  const before = await findByKey(deps, request, signal);
  if (before === null || before.fingerprint !== request.fingerprint || isForgotten(deps, before)) throw refusal;
  return repeatOf(deps, request, before);
};

const memoryMs = dayMs; // docs/reference/requests.md#idempotency

/** The message that used this key; one that is older than the memory gives the key away. */
const findRepeat = async (
  deps: AcceptMessageDeps,
  request: MessageRequest,
  signal: AbortSignal,
): Promise<AcceptedMessage | null> => {
  const before = await findByKey(deps, request, signal);
  if (before === null) return null;
  if (!isForgotten(deps, before)) return repeatOf(deps, request, before);
  await deps.messages.releaseKey(request.caller.tenant._id, before._id);
  return null;
};

const isForgotten = ({ clock }: Pick<AcceptMessageDeps, "clock">, { created_at: at }: MessageRow): boolean =>
  clock.now().getTime() - at.getTime() >= memoryMs;

const findByKey = async (
  { messages }: AcceptMessageDeps,
  { caller, app, key, operation }: MessageRequest,
  signal: AbortSignal,
): Promise<MessageRow | null> =>
  key === undefined
    ? null
    : messages.findByKey({ tenantId: caller.tenant._id, appId: app._id }, { key, operation }, signal);

const repeatOf = (
  { count }: AcceptMessageDeps,
  { caller, app, fingerprint }: MessageRequest,
  before: MessageRow,
): AcceptedMessage => {
  const mismatch = before.fingerprint !== fingerprint;
  if (mismatch && app.idempotency_mismatch === "reject") {
    throw keyReused("message", { key: before.idempotency_key, message_id: before._id });
  }
  count("replayed", caller.tenant._id);
  return { row: before, replayed: true, mismatch };
};

/** Names the message and reserves its deliveries. @throws AppError HS_QUOTA_EXCEEDED */
const reserve = async (
  { quota, clock }: AcceptMessageDeps,
  { caller, id: given }: MessageRequest,
  { recipients, after = null }: DecidedMessage,
): Promise<BegunMessage> => {
  const now = clock.now();
  const madeAt = new Date(Math.max(now.getTime(), after === null ? 0 : after.getTime() + 1));
  const id = given ?? newId("message", madeAt);
  return { id, now, madeAt, reserved: await quota.reserve(caller, { id, count: recipients }, now) };
};

/** Stores the message; null when another request with its key was faster. What is not stored gives its reservation back. */
const insert = async (
  { messages, quota }: AcceptMessageDeps,
  { caller }: MessageRequest,
  { rowOf }: DecidedMessage,
  begun: BegunMessage,
): Promise<MessageRow | null> => {
  const { id, reserved } = begun;
  const withdraw = (): Promise<void> => quota.withdraw({ _id: id, tenant_id: caller.tenant._id, reserved });
  const made = await unlessThrown(async () => rowOf(begun), withdraw);
  const row = { ...made, outbox: [queuedEvent(made)] };
  if (await messages.insert(row)) return row;
  await withdraw();
  return null;
};

const unlessThrown = async <T>(make: () => Promise<T>, undo: () => Promise<void>): Promise<T> => {
  try {
    return await make();
  } catch (error) {
    await undo();
    throw error;
  }
};

/** The message of the request that was faster. @throws AppError HS_IDEMPOTENCY_IN_PROGRESS when it is not there yet */
const winnerOf = async (
  deps: AcceptMessageDeps,
  request: MessageRequest,
  signal: AbortSignal,
): Promise<AcceptedMessage> => {
  const winner = await findByKey(deps, request, signal);
  if (winner === null) throw inProgress();
  return repeatOf(deps, request, winner);
};

/** Nothing of it is waited for: whatever a kill leaves undone the timers do. */
const announce = ({ quota, publish, count }: AcceptMessageDeps, row: MessageRow): void => {
  quota.confirm(row);
  publish(row);
  count("created", row.tenant_id);
};

/** What every message begins with. */
export const messageOf = (
  { caller, app, key, operation, fingerprint, traceparent }: MessageRequest,
  { id, reserved, now, madeAt }: BegunMessage,
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
