import { backoffMs, type Random } from "#core/domain/backoff.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { ChunkRow, Tried } from "#core/storage/messages/chunks.ts";
import { collapseKeys } from "#core/storage/messages/collapse.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { noWork } from "#core/storage/work/due.ts";

/** A recipient that is to be tried again, not before `at`; `mayHaveArrived`: the answer to an attempt was lost. */
export type Again = { subscriptionId: string; at: Date; mayHaveArrived: boolean; tried?: Tried };

/** Between tries of one recipient: 5 s doubling to 30 min, unless the provider names a later instant. */
const pause = { firstMs: 5_000, capMs: 1_800_000, factor: 2 };

/** Recipients due within the same quarter minute share a chunk, so that a retry stays a batch. */
const sharedMs = 15_000;

/** When to try again: the provider's instant or our own pause, whichever is later. */
export const nextTry = (at: Date, attempt: number, now: Date, random: Random): Date =>
  new Date(Math.max(at.getTime(), now.getTime() + backoffMs(pause, attempt, random)));

/** Tries that are kept of one recipient, the latest. */
const mostTried = 20;

/** The chunks that carry on with what could not be sent: one for each stretch of due times, apart for what may have arrived and why. */
export const retryChunks = (
  { chunk, message }: { chunk: ChunkRow; message: Pick<MessageRow, "options"> },
  again: readonly Again[],
  now: Date,
): ChunkRow[] =>
  [false, true].flatMap((mayHaveArrived) => {
    const alike = again.filter((one) => one.mayHaveArrived === mayHaveArrived);
    return [...Map.groupBy(alike, sharedBy)].map(([key, due]) => {
      const [{ tried, at }] = due as [Again]; // sound: a group has a first
      const recipients = due.map(({ subscriptionId }) => subscriptionId);
      const keys = collapseKeys(message, chunk, recipients);
      return {
        ...chunk,
        ...noWork,
        _id: derivedId("chunk", chunk._id, String(chunk.fence), key, String(mayHaveArrived)),
        due_at: sharedAt(at),
        recipients,
        ...(tried && { tried: [...(chunk.tried ?? []), tried].slice(-mostTried) }),
        ...(keys.length > 0 && { collapse_keys: keys }),
        scanned: null,
        parent_id: chunk._id,
        attempt: chunk.attempt + 1,
        may_overlap: true,
        may_have_arrived: mayHaveArrived,
        dispatched_at: chunk.dispatched_at ?? now,
        status: "open",
        created_at: now,
      };
    });
  });

const sharedAt = (at: Date): Date => new Date(Math.ceil(at.getTime() / sharedMs) * sharedMs);

/** What recipients of one retry have in common. */
const sharedBy = ({ at, tried }: Again): string =>
  [sharedAt(at).getTime(), tried?.code ?? "", tried?.provider_code ?? ""].join(" ");
