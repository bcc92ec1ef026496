import { reachOf } from "#core/channels/content.ts";
import { isOfIdsAlone } from "#core/domain/segments/aim.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AudienceScope, Reached } from "#core/storage/messages/audience.ts";
import { type ChunkRow, chunkSize } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { type Stretch } from "#core/storage/people/subscription-counts.ts";

/** A part of the audience that is not a chunk yet: recipients of one channel, and where the scan stands after them. */
export type Piece = {
  channel: Channel;
  recipients: string[];
  scanned: ChunkRow["scanned"];
  /** The recipients as they were just read, where they were read whole. */
  rows?: Reached[];
};

/** What of an audience is read next. */
export type PageOf = Stretch & { appId: string; after: string; testOnly: boolean; limit: number };

export type AudienceDeps = {
  /** The next ids behind `after` of a scanned audience. */
  page: (of: PageOf, message: MessageRow) => Promise<string[]>;
  resolve: (message: MessageRow, wanted: AudienceScope) => Promise<Map<Channel, Reached[]>>;
};

/** Whether the audience is scanned page by page (`all`, segments, the devices of an activity), or resolved from explicit ids. */
export const isScanned = ({ target, aim, live_activity: live }: MessageRow): boolean =>
  target.all === true || (aim !== undefined && !isOfIdsAlone(aim)) || (live !== undefined && live.event !== "start");

/** Every piece of an audience of explicit ids, which the bounds of the target keep small. */
export const resolvePieces = async (deps: AudienceDeps, message: MessageRow): Promise<Piece[]> => {
  const wanted = { appId: message.app_id, stretches: stretchesOf(message), testOnly: testOnly(message) };
  const byChannel = await deps.resolve(message, wanted);
  return [...byChannel].flatMap(([channel, found]) =>
    split(found).map((rows): Piece => ({ channel, recipients: rows.map(({ _id }) => _id), scanned: null, rows })),
  );
};

/** Parts of a piece of an audience of explicit ids, of at most `size`. */
export const splitPiece = (piece: Piece, size: number): Piece[] =>
  Array.from({ length: Math.ceil(piece.recipients.length / size) }, (_, i) => ({
    channel: piece.channel,
    recipients: piece.recipients.slice(i * size, (i + 1) * size),
    scanned: piece.scanned,
  }));

/** The next piece of a scanned audience behind `scanned`, of at most `limit`; null at its end. */
export const nextPiece = async (
  deps: AudienceDeps,
  message: MessageRow,
  scanned: ChunkRow["scanned"],
  limit = chunkSize,
): Promise<Piece | null> => {
  const stretches = stretchesOf(message);
  const at = scanned === null ? 0 : stretches.findIndex((stretch) => isSame(stretch, scanned));
  for (const [index, stretch] of stretches.entries()) {
    if (index < at) continue;
    const after = scanned !== null && index === at ? scanned.after : "";
    const of = { ...stretch, appId: message.app_id, after, testOnly: testOnly(message), limit };
    const ids = await deps.page(of, message);
    const last = ids.at(-1);
    if (last !== undefined) return { channel: stretch.channel, recipients: ids, scanned: { ...stretch, after: last } };
  }
  return null;
};

/** Channel by channel, and within e-mail the unsubscribed too where the message may reach them. */
export const stretchesOf = ({ channels, options }: MessageRow): Stretch[] => reachOf(channels, options);

export const testOnly = ({ target }: MessageRow): boolean => target.test_devices_only === true;

export const isSame = (a: Stretch, b: Stretch): boolean => a.channel === b.channel && a.status === b.status;

const split = (rows: readonly Reached[]): Reached[][] => {
  const parts: Reached[][] = [];
  for (let from = 0; from < rows.length; from += chunkSize) parts.push(rows.slice(from, from + chunkSize));
  return parts;
};
