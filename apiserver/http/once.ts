import type { Clock } from "#core/domain/clock.ts";
import { derivedId, derivedIdAt } from "#core/domain/ids.ts";
import { AppError, errorStatuses } from "#core/errors.ts";
import { type KeyRing, openShared } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { AnsweredRow, Replies, ReplyRow, StoredReply } from "#core/storage/service/replies.ts";
import { inProgress, keyReused, otherRequest, repeatHeaders } from "./idempotency-key.ts";
import type { Answer, Attempt, NewId } from "./route.ts";

export type OnceDeps = {
  replies: Replies;
  seal: KeyRing["seal"];
  open: KeyRing["open"];
  /** How long a request may take: after it another may go on where one was cut short. */
  leaseMs: number;
  clock: Clock;
};

/** Whose request it is: an app's, or the tenant's where none is named. */
export type Owner = Pick<AppRow, "_id" | "tenant_id" | "idempotency_mismatch">;

/** A request with an idempotency key. `operation` names what is asked for, with the things that its path names. */
export type KeyedRequest = { app: Owner; operation: string; key: string; fingerprint: string };

export type Once = ReturnType<typeof once>;

/** What answers a request. */
export type Run = {
  /** The status of an answer that has none. */
  status: number;
  /** How long the request may take, when that is longer than usual. */
  timeoutMs?: number | undefined;
  /** Whether a used key with another body is always refused, whatever the app's setting. */
  refusesMismatch?: true | undefined;
  handle: (attempt: Attempt) => Promise<Answer<unknown>>;
  /** Finds what an attempt made that was cut short; null when it made nothing. Without it, going on is harmless. */
  made?: ((attempt: Attempt) => Promise<Answer<unknown> | null>) | undefined;
  /** Shows the thing that the first reply showed, as it is now: replies that show a thing are not kept then. */
  show?: ((id: string) => Promise<unknown>) | undefined;
};

/**
 * Answers a request with an idempotency key once: for 24 hours repeats get the first reply, errors use no key up, and
 * an attempt that was cut short is gone on with. Source: docs/reference/requests.md#idempotency.
 * @throws AppError HS_IDEMPOTENCY_IN_PROGRESS, HS_IDEMPOTENCY_KEY_REUSED, HS_CONFLICT
 */
export const once = (deps: OnceDeps) => {
  const { replies, clock, leaseMs } = deps;
  return {
    /** Whether the reply is there: then nothing but the key needs to be asked. */
    isAnswered: async (asked: Pick<KeyedRequest, "app" | "operation" | "key">): Promise<boolean> =>
      (await replies.find(asked.app.tenant_id, idOf(asked), clock.now())) !== null,

    answer: async (asked: KeyedRequest, run: Run): Promise<Answer<unknown>> => {
      const now = clock.now();
      const begun = await replies.begin(rowOf(asked, now, Math.max(leaseMs, run.timeoutMs ?? 0)), now);
      switch (begun.kind) {
        case "busy":
          throw inProgress();
        case "kept":
          return repeat(deps, asked, begun.row, run);
        case "ours":
          return answerNow(deps, begun, run);
      }
    },
  };
};

const idOf = ({ app, operation, key }: Pick<KeyedRequest, "app" | "operation" | "key">): string =>
  derivedId("reply", app._id, operation, key);

const rowOf = (asked: KeyedRequest, now: Date, leaseMs: number): ReplyRow => ({
  _id: idOf(asked),
  tenant_id: asked.app.tenant_id,
  app_id: asked.app._id,
  fingerprint: asked.fingerprint,
  held_until: new Date(now.getTime() + leaseMs),
  reply: null,
  created_at: now,
});

const answerNow = async (
  deps: OnceDeps,
  { row, isResumed }: { row: ReplyRow; isResumed: boolean },
  run: Run,
): Promise<Answer<unknown>> => {
  const { replies, clock } = deps;
  const newId: NewId = (kind) => derivedIdAt(kind, row.created_at, row._id);
  const attempt = { newId, once: { id: row._id, begunAt: row.created_at } };
  try {
    const made = isResumed ? await run.made?.(attempt) : null;
    const answer = made ?? (await run.handle(attempt));
    await replies.keep(row, keptOf(deps, row, answer, run));
    return answer;
  } catch (error) {
    const settled = isRefusal(error) && !isResumed ? replies.forget(row) : replies.release(row, clock.now());
    await settled.catch(() => undefined); // the end of its lease has the same effect
    throw error;
  }
};

/** After it, this attempt has changed nothing; after any other error it may have. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AppError && errorStatuses[error.code] < 500 && !error.isHalfDone;

const keptOf = ({ seal }: OnceDeps, { _id }: ReplyRow, { body, status }: Answer<unknown>, run: Run): StoredReply => {
  const of = run.show === undefined ? null : thingIn(body);
  return { status: status ?? run.status, of, body: of === null ? seal(JSON.stringify(body), placeOf(_id)) : null };
};

/** The id of the thing that a reply shows; null when it shows none, but says what was done. */
const thingIn = (body: unknown): string | null =>
  typeof body === "object" && body !== null && "id" in body ? String(body.id) : null;

const placeOf = (id: string): string => `replies/${id}`;

const repeat = async (deps: OnceDeps, asked: KeyedRequest, { _id, fingerprint, reply }: AnsweredRow, run: Run) => {
  const mismatch = fingerprint !== asked.fingerprint;
  if (mismatch && run.refusesMismatch === true) throw otherRequest(asked.key);
  if (mismatch && asked.app.idempotency_mismatch === "reject") throw keyReused("request", { key: asked.key });
  const kept = reply.body && openShared(deps.open, reply.body, placeOf(_id), "the reply that was given before");
  const body = kept === null ? await run.show?.(reply.of ?? "") : JSON.parse(kept);
  return { body, status: reply.status, headers: repeatHeaders({ replayed: true, mismatch }) };
};
