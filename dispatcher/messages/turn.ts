import type { Clock } from "#core/domain/clock.ts";
import { throttledSize } from "#core/domain/messages/slots.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type ChunkRow, type Chunks, chunkSize } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import type { Hints } from "../work/hints.ts";
import type { Lease } from "../work/lease.ts";
import { type AudienceDeps, isScanned, nextPiece, type Piece, resolvePieces, splitPiece } from "./audience.ts";
import { type BeginningDeps, beginning } from "./beginning.ts";
import { chunkOf, pieceSize } from "./cut.ts";
import { fallsBack } from "./fallback/chunks.ts";
import { type FirstLook, firstLook, isRanged, nextRange, type RangedMessage, type RangeReader } from "./ranges.ts";
import type { SendChunks } from "./send-chunks.ts";
import { expecting, isReadAhead, type keepRows, readAhead } from "./timing/ahead.ts";
import { isTimed } from "./timing/by-local-time.ts";
import { rateOf } from "./timing/throttle.ts";

/**
 * What a turn came to: all is sent and stored (`all` of it here and now, when the turn sent it itself); chunks are queued
 * or due later, or scheduled, the next one for `nextDue`, and nothing else is (\`isIdle\`); or it was halted before its end, maybe before anything of the message was handed to a provider.
 */
export type TurnResult =
  | { kind: "complete"; all?: DeliveryRow[] }
  | { kind: "under_way"; planned: boolean; nextDue?: Date; isIdle?: boolean }
  | { kind: "halted"; isUntouched?: boolean };

export type Turn = (message: MessageRow, app: AppRow, lease: Lease) => Promise<TurnResult>;

export type TurnDeps = {
  audience: AudienceDeps;
  ranges: RangeReader;
  chunks: Pick<
    Chunks,
    "last" | "isBegun" | "discardWaiting" | "keep" | "countOpen" | "countWaiting" | "waiting" | "open" | "nextScheduled"
  >;
  /** Writes the deliveries of those who wait long for their place in a throttled message; whether there may be more. */
  keepRows: ReturnType<typeof keepRows>;
  send: SendChunks;
  messages: BeginningDeps;
  hints: Pick<Hints, "chunk">;
  /** Chunks of one message that may be queued or under way at once. */
  openChunks: () => number;
  clock: Clock;
};

/** Moves a message on, as far as its share of the queue allows. */
export const turn =
  (deps: TurnDeps): Turn =>
  async (message, app, lease) => {
    const result = await moveOn(deps, { message, app, lease });
    if (result.kind !== "under_way" || !isReadAhead(message)) return result;
    return (await deps.keepRows(message, lease)) ? { ...result, nextDue: deps.clock.now() } : result;
  };

const moveOn = async (deps: TurnDeps, first: First): Promise<TurnResult> => {
  const { message } = first;
  if (message.planned) return go(deps, message, null);
  if (message.fence === 1) return begin(deps, first); // nobody had it before
  if (isScanned(message)) {
    const last = await deps.chunks.last(message._id);
    return last === null ? begin(deps, first) : go(deps, message, last);
  }
  return (await deps.chunks.isBegun(message._id)) ? go(deps, planned(message), null) : begin(deps, first);
};

export type First = { message: MessageRow; app: AppRow; lease: Lease };

/** The first turn: an audience of one chunk's size is sent here and now, a larger one is cut into chunks. */
const begin = async (deps: TurnDeps, first: First): Promise<TurnResult> => {
  const { message } = first;
  const isOpenEnded = isScanned(message);
  const { pieces, isWhole, areFew } = await look(deps, message, isOpenEnded);
  const rate = rateOf(message);
  if (isWhole && sizeOf(pieces) <= chunkSize && rate === null) return sendNow(deps, first, pieces);
  if (message.waits === true && !(await deps.messages.begin(message))) return { kind: "halted" }; // chunks note it anew
  if (isOpenEnded) return go(deps, message, null, isRanged(message) && !areFew);
  await deps.chunks.discardWaiting(message._id);
  const parts = rate === null ? pieces : pieces.flatMap((piece) => splitPiece(piece, throttledSize(rate, chunkSize)));
  const now = deps.clock.now();
  const made = parts.map((piece, position) => chunkOf(message, piece, position, now));
  await deps.chunks.keep(expecting(message, made, now, now));
  return go(deps, planned(message), null);
};

const look = async (deps: TurnDeps, message: MessageRow, isOpenEnded: boolean): Promise<FirstLook> => {
  if (isOpenEnded && isRanged(message)) return firstLook(deps.ranges, message);
  const pieces = isOpenEnded ? await firstPieces(deps, message) : await resolvePieces(deps.audience, message);
  return { pieces, isWhole: sizeOf(pieces) <= chunkSize, areFew: true };
};

const planned = (message: MessageRow): MessageRow => ({ ...message, planned: true });

/** Pieces of a scanned audience, up to one recipient more than a chunk holds: enough to know whether it is small. */
const firstPieces = async (deps: TurnDeps, message: MessageRow): Promise<Piece[]> => {
  const pieces: Piece[] = [];
  let piece = await nextPiece(deps.audience, message, null, chunkSize + 1);
  while (piece !== null) {
    pieces.push(piece);
    const room = chunkSize + 1 - sizeOf(pieces);
    if (room <= 0) return pieces;
    piece = await nextPiece(deps.audience, message, piece.scanned, room);
  }
  return pieces;
};

/** Sends a small message without queueing it again. Its chunks are only kept for what has to be retried. */
export const sendNow = async (
  deps: Pick<TurnDeps, "send" | "messages" | "clock">,
  first: First,
  pieces: readonly Piece[],
): Promise<TurnResult> => {
  const { message, app, lease } = first;
  const chunks = pieces.map((piece, position) => ({
    chunk: { ...chunkOf(message, piece, position, deps.clock.now()), fence: message.fence },
    rows: piece.rows,
  }));
  const { begin, isUntouched, stop } = beginning(deps.messages, message);
  const { kind, stored, hasRetries, hasLater } = await deps
    .send({ message, app, chunks, holder: message._id, isWhole: true, begin }, lease)
    .finally(stop);
  if (kind !== "sent") return { kind: "halted", isUntouched: isUntouched() };
  if (hasLater) return { kind: "under_way", planned: true, nextDue: deps.clock.now(), isIdle: true };
  if (hasRetries) return { kind: "under_way", planned: true };
  return message.fence === 1 ? { kind: "complete", all: stored } : { kind: "complete" };
};

/** Lets chunks into the queue while there is room for them; says when the last one has ended. */
const go = async (
  deps: TurnDeps,
  message: MessageRow,
  last: ChunkRow | null,
  byRanges = last?.range_after !== undefined,
): Promise<TurnResult> => {
  const most = openAtOnce(message, deps.openChunks());
  const open = await deps.chunks.countOpen(message._id, most);
  const room = most - open;
  const isEarly = isTimed(message) || fallsBack(message); // before the rest of the audience is read
  const early = isEarly ? await openScheduled(deps, message, room) : nothingDue;
  const opened = message.planned
    ? await openWaiting(deps, message, room - early.count)
    : byRanges && isRanged(message)
      ? await cutRanges(deps, message, last, room - early.count)
      : isReadAhead(message)
        ? await cutAhead(deps, message, last, room - early.count)
        : await cutNext(deps, message, last, room - early.count);
  const left = room - early.count - opened.count;
  const late = !isEarly && opened.planned && left > 0 ? await openScheduled(deps, message, left) : early;
  const isIdle = open + early.count + opened.count + late.count === 0;
  if (isIdle && opened.planned && late.next === null) return { kind: "complete" };
  const scheduled = late.next !== null && { nextDue: late.next, isIdle: isIdle && opened.planned };
  if (opened.isMore === true) return { kind: "under_way", planned: false, nextDue: deps.clock.now() };
  return { kind: "under_way", planned: opened.planned, ...scheduled };
};

type Due = { count: number; next: Date | null };
const nothingDue: Due = { count: 0, next: null };

/** Lets scheduled chunks into the queue whose time has come; says when the next one is due. */
const openScheduled = async (deps: TurnDeps, message: MessageRow, room: number): Promise<Due> => {
  if (room <= 0) return nothingDue;
  const [now, found] = [deps.clock.now(), await deps.chunks.nextScheduled(message._id, room + 1)];
  const due = found.slice(0, room).filter(({ scheduled_for: at }) => at <= now);
  await openAll(deps, message, due);
  return { count: due.length, next: found[due.length]?.scheduled_for ?? null };
};

type Queued = Omit<ChunkRow, "recipients">;

const openAll = async (deps: TurnDeps, message: MessageRow, next: readonly Queued[]): Promise<void> => {
  const ids = next.map(({ _id }) => _id);
  if (ids.length > 0) await deps.chunks.open(ids, sweepAfter(deps.clock.now()));
  await publishHints(deps, message, next);
};

/** Of a throttled message two, or as many as take half a second: each waits for instants that come after all others'. */
const openAtOnce = (message: MessageRow, most: number): number => {
  const rate = rateOf(message);
  return rate === null ? most : Math.min(most, Math.max(2, Math.ceil(rate / 60_000) + 1));
};

/** `isMore`: more of the audience is to be read at once. */
type Opened = { count: number; planned: boolean; isMore?: boolean };

const openWaiting = async (deps: TurnDeps, message: MessageRow, room: number): Promise<Opened> => {
  const next = room > 0 ? await deps.chunks.waiting(message._id, room) : [];
  await openAll(deps, message, next);
  return { count: next.length, planned: true };
};

/** Lets in what is next of a throttled message, of whose audience more is read than that. */
const cutAhead = async (deps: TurnDeps, message: MessageRow, last: ChunkRow | null, room: number): Promise<Opened> => {
  const { isWhole, isMore } = await readAhead(deps, message, last);
  const { count } = await openWaiting(deps, message, room);
  return { count, planned: isWhole, isMore };
};

const keptAtOnce = 16; // chunks, of 500 ids each

const cutNext = async (deps: TurnDeps, message: MessageRow, last: ChunkRow | null, room: number): Promise<Opened> => {
  const cut: ChunkRow[] = [];
  let scanned = last?.scanned ?? null;
  const first = last === null ? 0 : last.position + 1;
  const overlap = last?.may_overlap ?? message.fence > 1;
  let ready: ChunkRow[] = [];
  const queue = async (): Promise<void> => {
    await deps.chunks.keep(ready);
    await publishHints(deps, message, ready);
    ready = [];
  };
  while (cut.length < room) {
    const piece = await nextPiece(deps.audience, message, scanned, pieceSize(message));
    if (piece === null) break;
    const now = deps.clock.now();
    const made = chunkOf(message, piece, first + cut.length, now);
    const chunk: ChunkRow = { ...made, may_overlap: overlap, status: "open", due_at: sweepAfter(now) };
    cut.push(chunk);
    ready.push(chunk);
    if (message.aim !== undefined || ready.length >= keptAtOnce) await queue(); // what comes next may be found only after a long scan
    scanned = piece.scanned;
  }
  if (ready.length > 0) await queue();
  return { count: cut.length, planned: cut.length < room };
};

/** A range that was cut gives many chunks, and one that is small soon: so no more at once, which would be read before these are sent. */
const rangesOfTurn = 2;

/** Lets in what was found in ranges that are planned; where that leaves room more of these are to be planned. */
const cutRanges = async (
  deps: TurnDeps,
  message: RangedMessage,
  last: ChunkRow | null,
  room: number,
): Promise<Opened> => {
  let { count } = await openWaiting(deps, message, room);
  let at = { scanned: last?.scanned ?? null, position: last === null ? 0 : last.position + 1 };
  const overlap = last?.may_overlap ?? message.fence > 1;
  for (let cut = 0; cut < rangesOfTurn && count < room; cut++) {
    const next = await nextRange(deps, message, at);
    if (next === null) return { count, planned: true };
    const range = { ...next, may_overlap: overlap };
    if (!(await deps.chunks.keep([range]))) break; // another turn cuts it, too
    await publishHints(deps, message, [range]);
    at = { scanned: range.scanned, position: range.position + 1 };
    count++;
  }
  return { count, planned: false };
};

const publishHints = async ({ hints }: TurnDeps, { traceparent }: MessageRow, of: readonly Queued[]): Promise<void> => {
  await Promise.all(of.map((chunk) => hints.chunk({ ...chunk, traceparent }, "cut")));
};

const sizeOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, piece) => sum + piece.recipients.length, 0);
