import type { Clock } from "#core/domain/clock.ts";
import { everyMsOf, instantsBetween, throttledSize } from "#core/domain/messages/slots.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import { type ChunkRow, type Chunks, chunkSize } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Lease } from "../../work/lease.ts";
import { type AudienceDeps, nextPiece, type Piece, splitPiece } from "../audience.ts";
import { chunkOf } from "../cut.ts";
import { schedule } from "../delivery/delivery-row.ts";
import { notAttempted, rowsAfterMs } from "../delivery/later.ts";
import { isTimed } from "./by-local-time.ts";
import { rateOf } from "./throttle.ts";

/** Whether the audience of a message is read before it is their turn, so that it is known who waits. */
export const isReadAhead = (message: MessageRow): boolean => rateOf(message) !== null && !isTimed(message);

/**
 * Says of chunks that follow one another, the first from `from` on, about when each is sent. Recipients who wait longer than
 * others without a delivery do are to have one.
 */
export const expecting = (message: MessageRow, made: readonly ChunkRow[], from: Date, now: Date): ChunkRow[] => {
  const rate = rateOf(message);
  if (rate === null || isTimed(message)) return [...made];
  let atMs = from.getTime();
  return made.map((chunk) => {
    const begins = new Date(atMs);
    atMs += chunk.recipients.length * everyMsOf(rate);
    const isLong = begins.getTime() - now.getTime() > rowsAfterMs;
    const rows = isLong && { has_rows: true as const, rows_due: true as const };
    return { ...chunk, expected: { from: begins, until: new Date(atMs) }, ...rows };
  });
};

export type ReadAheadDeps = { audience: AudienceDeps; chunks: Pick<Chunks, "keep" | "countWaiting">; clock: Clock };

/** Chunks of a message that wait at most: a day's, where they take half a minute each. */
const mostWaiting = 2_880;
/** Read in one turn: 10,000 recipients, or as many as are found in a second. */
const [pagesAtOnce, forMs] = [20, 1_000];

/** Reads more of the audience of a throttled message and keeps its chunks, behind the `last` of them. */
export const readAhead = async (
  { audience, chunks, clock }: ReadAheadDeps,
  message: MessageRow,
  last: ChunkRow | null,
): Promise<{ isWhole: boolean; isMore: boolean }> => {
  const [size, began] = [throttledSize(rateOf(message) ?? chunkSize, chunkSize), clock.now()];
  let room = mostWaiting - (await chunks.countWaiting(message._id, mostWaiting));
  let at = last;
  for (let page = 0; room > 0; page++) {
    const now = clock.now();
    if (page === pagesAtOnce || now.getTime() - began.getTime() > forMs) return { isWhole: false, isMore: true };
    const piece = await nextPiece(audience, message, at?.scanned ?? null);
    if (piece === null) return { isWhole: true, isMore: false };
    const made = chunksOf(message, splitPiece(piece, size).slice(0, room), at, now);
    await chunks.keep(made);
    room -= made.length;
    at = made.at(-1) ?? at;
  }
  return { isWhole: false, isMore: false };
};

const chunksOf = (message: MessageRow, parts: readonly Piece[], last: ChunkRow | null, now: Date): ChunkRow[] => {
  const first = last === null ? 0 : last.position + 1;
  const overlap = last?.may_overlap ?? message.fence > 1;
  const made = parts.map((part, n) => ({ ...chunkOf(message, reaching(part), first + n, now), may_overlap: overlap }));
  const from = last?.expected !== undefined && last.expected.until > now ? last.expected.until : now;
  return expecting(message, made, from, now);
};

/** The scan goes on behind the part's own last recipient. */
const reaching = (part: Piece): Piece => {
  const after = part.recipients.at(-1);
  return part.scanned === null || after === undefined ? part : { ...part, scanned: { ...part.scanned, after } };
};

export type KeepRowsDeps = {
  chunks: Pick<Chunks, "withoutRows" | "rowsWritten">;
  load: (ids: readonly string[]) => Promise<Reached[]>;
  /** Stores deliveries that are not there yet. */
  record: (rows: readonly DeliveryRow[]) => Promise<unknown>;
  /** Ends deliveries of a chunk that is not sent any more. */
  cancelWaiting: (chunk: ChunkRow, now: Date) => Promise<void>;
  clock: Clock;
};

/** Of one turn: 2,000 recipients, so that the chunks that are next are not kept waiting. */
const chunksAtOnce = 4;

/**
 * Writes the deliveries of recipients of a throttled message who wait long, a part at a time; whether there may be more.
 * May run twice.
 */
export const keepRows =
  ({ chunks, load, record, cancelWaiting, clock }: KeepRowsDeps) =>
  async ({ _id }: Pick<MessageRow, "_id">, { isOver }: Pick<Lease, "isOver">): Promise<boolean> => {
    const found = await chunks.withoutRows(_id, chunksAtOnce);
    for (const chunk of found) {
      const [now, subscriptions] = [clock.now(), await load(chunk.recipients)];
      if (isOver()) return true;
      const { from, until } = chunk.expected ?? { from: now, until: now };
      const atOf = instantsBetween(chunk.recipients, from, until);
      await record(subscriptions.map((one) => schedule(notAttempted(chunk, one, now), atOf(one._id))));
      if (!(await chunks.rowsWritten(chunk))) await cancelWaiting(chunk, now);
    }
    return found.length === chunksAtOnce;
  };
