import type { Clock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import { isOfIdsAlone, type MessageAim } from "#core/domain/segments/aim.ts";
import { idPrefixes } from "#core/schema/vocabulary/id-prefixes.ts";
import { type ChunkRow, type Chunks, chunkSize } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { AppStretch, Stretch } from "#core/storage/people/subscription-counts.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import type { Hints } from "../work/hints.ts";
import type { Lease } from "../work/lease.ts";
import { isSame, type PageOf, type Piece, stretchesOf, testOnly } from "./audience.ts";
import { chunkOf, pieceSize } from "./cut.ts";
import { rateOf } from "./timing/throttle.ts";

/** A message whose audience is judged one subscription after another. */
export type RangedMessage = MessageRow & { aim: MessageAim };
export type RangeOf = Omit<PageOf, "limit"> & { until: string };

/** Reads the audience of messages with segments or a filter. */
export type RangeReader = {
  /** Who of a stretch is meant, as far as so many subscriptions tell. `areFew`: all who can be are known by now. */
  look: (
    of: PageOf & { mostRows: number },
    message: RangedMessage,
  ) => Promise<{ ids: string[]; looked: number; isWhole: boolean; areFew: boolean }>;
  /** The nth subscription of a stretch behind an id; null when there are fewer. */
  nthBehind: (of: AppStretch, id: string, n: number) => Promise<string | null>;
  /** Everybody of a range who is meant, in pages and in the order of ids. */
  within: (of: RangeOf, message: RangedMessage) => AsyncIterable<string[]>;
};

export type RangeDeps = {
  ranges: RangeReader;
  chunks: Pick<Chunks, "keep" | "countOpen" | "reachOf">;
  hints: Pick<Hints, "chunk">;
  /** Chunks of one message that may be queued or under way at once. */
  openChunks: () => number;
  clock: Clock;
};

/**
 * Whether several dispatchers may plan a message: its audience is cut into ranges of ids, each of which is planned by a
 * chunk of its own. A throttled one is sent so slowly that one turn after another plans it as fast. Source: docs/decisions/0131.
 */
export const isRanged = (message: MessageRow): message is RangedMessage =>
  message.aim !== undefined &&
  !isOfIdsAlone(message.aim) &&
  message.live_activity === undefined &&
  rateOf(message) === null;

/** Subscriptions that are looked at to know whether a message is small. */
const lookRows = 5_000;

/** Those who are found first; whether they are all, and whether the others are known. */
export type FirstLook = { pieces: Piece[]; isWhole: boolean; areFew: boolean };

/** Looks whether a message is small: finds one recipient more than a chunk holds at most. */
export const firstLook = async (ranges: RangeReader, message: RangedMessage): Promise<FirstLook> => {
  const pieces: Piece[] = [];
  let [room, rows] = [chunkSize + 1, lookRows];
  for (const stretch of stretchesOf(message)) {
    const of = {
      ...stretch,
      appId: message.app_id,
      after: "",
      testOnly: testOnly(message),
      limit: room,
      mostRows: rows,
    };
    const { ids, looked, isWhole, areFew } = await ranges.look(of, message);
    const last = ids.at(-1);
    if (last !== undefined)
      pieces.push({ channel: stretch.channel, recipients: ids, scanned: { ...stretch, after: last } });
    room -= ids.length;
    rows -= looked;
    if (!isWhole || room === 0) return { pieces, isWhole: false, areFew };
    if (rows <= 0 && !areFew) return { pieces, isWhole: false, areFew };
  }
  return { pieces, isWhole: true, areFew: true };
};

/** Rows of the first range and of the largest; each has twice as many as the one before. */
const rangeRows = { first: 1_000, most: 20_000 };
/** Behind every subscription: where the last range of a stretch ends. */
const endOfIds = `${idPrefixes.subscription}_~`;

/** The chunk that plans the range behind `scanned`; null at the end of the audience. */
export const nextRange = async (
  { ranges, clock }: Pick<RangeDeps, "ranges" | "clock">,
  message: RangedMessage,
  { scanned, position }: Pick<ChunkRow, "scanned" | "position">,
): Promise<ChunkRow | null> => {
  const stretches = stretchesOf(message);
  const rows = Math.min(rangeRows.first * 2 ** Math.min(position, 10), rangeRows.most);
  const at = scanned === null ? 0 : stretches.findIndex((stretch) => isSame(stretch, scanned));
  for (const [index, stretch] of stretches.entries()) {
    if (index < at) continue;
    const after = scanned !== null && index === at ? scanned.after : "";
    const of = { ...stretch, appId: message.app_id, testOnly: testOnly(message) };
    const until = (await ranges.nthBehind(of, after, rows)) ?? (await endBehind(ranges, of, after));
    if (until !== null) return rangeChunk(message, { stretch, after, until, position }, clock.now());
  }
  return null;
};

const endBehind = async ({ nthBehind }: RangeReader, of: AppStretch, after: string): Promise<string | null> =>
  (await nthBehind(of, after, 1)) === null ? null : endOfIds;

type NewRange = { stretch: Stretch; after: string; until: string; position: number };

/** Its id follows from where it begins: of two turns that cut at the same place only one range is kept. */
const rangeChunk = (message: MessageRow, { stretch, after, until, position }: NewRange, now: Date): ChunkRow => {
  const piece = { channel: stretch.channel, recipients: [], scanned: { ...stretch, after: until } };
  return {
    ...chunkOf(message, piece, position, now),
    _id: derivedId("chunk", message._id, "range", stretch.channel, stretch.status, after),
    range_after: after,
    status: "open",
    due_at: sweepAfter(now),
  };
};

type Planned = { kind: "sent" | "halted" };

/**
 * Plans a range: keeps a chunk of each piece of those who are meant, and lets it into the queue while there is room. Each
 * begins where the one before it ends and has its id from there, so that a range that is planned again goes on behind its last
 * one, and two who plan it at once, one of them by a lost lease, make the same chunks.
 */
export const planRange =
  (deps: RangeDeps) =>
  async ({ chunk, message }: { chunk: ChunkRow; message: MessageRow }, lease: Lease): Promise<Planned> => {
    const { scanned, range_after: from } = chunk;
    if (!isRanged(message) || scanned === null || from === undefined) throw new Error(`no range: ${chunk._id}`);
    const { channel, status, after: until } = scanned;
    let behind = chunk.fence === 1 ? from : await reached(deps, chunk._id, from);
    const size = pieceSize(message);
    let found: string[] = [];
    const keep = async (recipients: string[]): Promise<boolean> => {
      const after = recipients.at(-1) ?? behind;
      const piece: Piece = { channel, recipients, scanned: { channel, status, after } };
      const isKept = !lease.isOver() && (await keepPart(deps, { chunk, message, piece, behind }));
      behind = after;
      return isKept;
    };
    const of = { channel, status, appId: message.app_id, testOnly: testOnly(message), after: behind, until };
    for await (const ids of deps.ranges.within(of, message)) {
      if (lease.isOver()) return { kind: "halted" };
      found.push(...ids);
      for (; found.length >= size; found = found.slice(size))
        if (!(await keep(found.slice(0, size)))) return { kind: "halted" };
    }
    return found.length === 0 || (await keep(found)) ? { kind: "sent" } : { kind: "halted" };
  };

const partId = (rangeId: string, behind: string): string => derivedId("chunk", rangeId, "part", behind);

/** Where the last part of a range ends that an earlier run kept. */
const reached = async ({ chunks }: RangeDeps, rangeId: string, from: string): Promise<string> => {
  let behind = from;
  for (let next: string | null = from; next !== null; next = await chunks.reachOf(partId(rangeId, behind)))
    behind = next;
  return behind;
};

type Part = { chunk: ChunkRow; message: MessageRow; piece: Piece; behind: string };

/** False when another has kept a part that begins there. */
const keepPart = async (deps: RangeDeps, { chunk, message, piece, behind }: Part): Promise<boolean> => {
  const { chunks, hints, clock } = deps;
  const [now, most] = [clock.now(), deps.openChunks()];
  const isOpen = (await chunks.countOpen(message._id, most)) < most;
  const part: ChunkRow = {
    ...chunkOf(message, piece, chunk.position, now),
    _id: partId(chunk._id, behind),
    parent_id: chunk._id,
    may_overlap: chunk.may_overlap,
    ...(isOpen && { status: "open" as const, due_at: sweepAfter(now) }),
  };
  const isKept = await chunks.keep([part]);
  if (isKept && isOpen) await hints.chunk({ ...part, traceparent: message.traceparent }, "cut");
  return isKept;
};

/** Whether a chunk is the first that is sent of a message that is planned by ranges. */
export const isFirstPart = ({ _id, parent_id: rangeId }: ChunkRow): boolean =>
  rangeId !== null && _id === partId(rangeId, "");
