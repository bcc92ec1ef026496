import type { Clock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type ChunkRow, chunkSize } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/messages.ts";
import { noWork } from "#core/storage/work/due.ts";
import type { Lease } from "../work/lease.ts";
import { isScanned, nextPiece, type Piece, resolvePieces, type SurveyDeps } from "./audience.ts";
import type { Delivered, Work } from "./deliver.ts";

/**
 * What a turn came to: all is sent and stored (`all` of it here and now, when the turn sent it itself); chunks are queued
 * or due later; or it was halted before its end.
 */
export type Advance =
  | { kind: "complete"; all?: DeliveryRow[] }
  | { kind: "under_way"; planned: boolean }
  | { kind: "halted" };

export type AdvanceDeps = SurveyDeps & {
  chunks: {
    last: (messageId: string) => Promise<ChunkRow | null>;
    isBegun: (messageId: string) => Promise<boolean>;
    discardWaiting: (messageId: string) => Promise<void>;
    keep: (chunks: readonly ChunkRow[]) => Promise<void>;
    countOpen: (messageId: string, most: number) => Promise<number>;
    waiting: (messageId: string, limit: number) => Promise<ChunkRow[]>;
    open: (ids: readonly string[], dueAt: Date) => Promise<void>;
    recipientsOfRetries: (parentId: string) => Promise<string[]>;
  };
  /** Rings a chunk's hint. */
  ring: (chunk: ChunkRow, traceparent: string | null) => Promise<void>;
  deliver: (work: Work, hold: Lease) => Promise<Delivered>;
  followUp: (work: Pick<Work, "chunk" | "message">, delivered: Delivered, hold: Lease) => Promise<boolean>;
  count: (messageId: string, fresh: readonly DeliveryRow[]) => Promise<void>;
  /** Chunks of one message that may be queued or under way at once. */
  openChunks: number;
  clock: Clock;
};

const sweepMs = 10_000; // a chunk whose hint was lost is rung again after this long

/** Moves a message on, as far as its share of the queue allows. */
export const advance =
  (deps: AdvanceDeps) =>
  async (message: MessageRow, app: AppRow, hold: Lease): Promise<Advance> => {
    const turn = { message, app, hold };
    if (message.planned) return go(deps, message, null);
    if (message.fence === 1) return begin(deps, turn); // nobody had it before
    if (isScanned(message)) {
      const last = await deps.chunks.last(message._id);
      return last === null ? begin(deps, turn) : go(deps, message, last);
    }
    return (await deps.chunks.isBegun(message._id)) ? go(deps, planned(message), null) : begin(deps, turn);
  };

type Turn = { message: MessageRow; app: AppRow; hold: Lease };

/** The first turn: an audience of one chunk's size is sent here and now, a larger one is cut into chunks. */
const begin = async (deps: AdvanceDeps, turn: Turn): Promise<Advance> => {
  const { message } = turn;
  const pieces = isScanned(message) ? await firstPieces(deps, message) : await resolvePieces(deps, message);
  if (sizeOf(pieces) <= chunkSize) return sendNow(deps, turn, pieces);
  if (isScanned(message)) return go(deps, message, null);
  await deps.chunks.discardWaiting(message._id);
  await deps.chunks.keep(pieces.map((piece, position) => chunkOf(message, piece, position, deps.clock.now())));
  return go(deps, planned(message), null);
};

const planned = (message: MessageRow): MessageRow => ({ ...message, planned: true });

/** Pieces of a scanned audience, up to one recipient more than a chunk holds: enough to know whether it is small. */
const firstPieces = async (deps: AdvanceDeps, message: MessageRow): Promise<Piece[]> => {
  const pieces: Piece[] = [];
  let piece = await nextPiece(deps, message, null, chunkSize + 1);
  while (piece !== null) {
    pieces.push(piece);
    const room = chunkSize + 1 - sizeOf(pieces);
    if (room <= 0) return pieces;
    piece = await nextPiece(deps, message, piece.scanned, room);
  }
  return pieces;
};

/** Sends a small message without queueing it again. Its chunks are only kept for what has to be retried. */
const sendNow = async (deps: AdvanceDeps, turn: Turn, pieces: readonly Piece[]): Promise<Advance> => {
  const all: DeliveryRow[] = [];
  let retries = false;
  for (const [position, piece] of pieces.entries()) {
    const made = { ...chunkOf(turn.message, piece, position, deps.clock.now()), fence: turn.message.fence };
    const retried = turn.message.fence === 1 ? [] : await deps.chunks.recipientsOfRetries(made._id);
    const chunk = { ...made, recipients: made.recipients.filter((id) => !retried.includes(id)) };
    const delivered = await deps.deliver({ chunk, message: turn.message, app: turn.app, rows: piece.rows }, turn.hold);
    const complete = await deps.followUp({ chunk, message: turn.message }, delivered, turn.hold);
    if (delivered.halted || !complete) return { kind: "halted" };
    all.push(...delivered.stored);
    retries ||= delivered.again.length > 0 || retried.length > 0;
  }
  if (!retries) return turn.message.fence === 1 ? { kind: "complete", all } : { kind: "complete" };
  await deps.count(turn.message._id, all);
  return { kind: "under_way", planned: true };
};

/** Lets chunks into the queue while there is room for them; says when the last one has ended. */
const go = async (deps: AdvanceDeps, message: MessageRow, last: ChunkRow | null): Promise<Advance> => {
  const open = await deps.chunks.countOpen(message._id, deps.openChunks);
  const room = deps.openChunks - open;
  const opened = message.planned ? await openWaiting(deps, message, room) : await cutNext(deps, message, last, room);
  const isOver = open === 0 && opened.count === 0 && opened.planned;
  return isOver ? { kind: "complete" } : { kind: "under_way", planned: opened.planned };
};

type Opened = { count: number; planned: boolean };

const openWaiting = async (deps: AdvanceDeps, message: MessageRow, room: number): Promise<Opened> => {
  const next = room > 0 ? await deps.chunks.waiting(message._id, room) : [];
  if (next.length > 0)
    await deps.chunks.open(
      next.map(({ _id }) => _id),
      sweepAt(deps.clock.now()),
    );
  await Promise.all(next.map((chunk) => deps.ring(chunk, message.traceparent)));
  return { count: next.length, planned: true };
};

const cutNext = async (
  deps: AdvanceDeps,
  message: MessageRow,
  last: ChunkRow | null,
  room: number,
): Promise<Opened> => {
  const cut: ChunkRow[] = [];
  let scanned = last?.scanned ?? null;
  const first = last === null ? 0 : last.position + 1;
  const overlap = last?.may_overlap ?? message.fence > 1;
  while (cut.length < room) {
    const piece = await nextPiece(deps, message, scanned);
    if (piece === null) break;
    const now = deps.clock.now();
    const made = chunkOf(message, piece, first + cut.length, now);
    cut.push({ ...made, may_overlap: overlap, status: "open", due_at: sweepAt(now) });
    scanned = piece.scanned;
  }
  await deps.chunks.keep(cut);
  await Promise.all(cut.map((chunk) => deps.ring(chunk, message.traceparent)));
  return { count: cut.length, planned: cut.length < room };
};

const chunkOf = (message: MessageRow, piece: Piece, position: number, now: Date): ChunkRow => ({
  ...noWork,
  _id: derivedId("chunk", message._id, String(position)),
  message_id: message._id,
  tenant_id: message.tenant_id,
  app_id: message.app_id,
  plan: message.plan,
  channel: piece.channel,
  position,
  status: "waiting",
  recipients: piece.recipients,
  scanned: piece.scanned,
  parent_id: null,
  attempt: 0,
  may_overlap: message.fence > 1,
  dispatched_at: null,
  created_at: now,
});

const sizeOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, piece) => sum + piece.recipients.length, 0);

const sweepAt = (now: Date): Date => new Date(now.getTime() + sweepMs);
