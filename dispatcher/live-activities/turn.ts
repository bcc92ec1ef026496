import type { Clock } from "#core/domain/clock.ts";
import type { Activities } from "#core/storage/live-activities/activities.ts";
import { chunkSize } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { type AudienceDeps, nextPiece, type Piece } from "../messages/audience.ts";
import type { BeginningDeps } from "../messages/beginning.ts";
import { chunkOf } from "../messages/cut.ts";
import type { Sent } from "../messages/send-chunks.ts";
import type { Steps, Strategy } from "../messages/strategy.ts";
import { type First, sendNow, type TurnResult } from "../messages/turn.ts";
import type { InOrder } from "./in-order.ts";

export type ActivityTurnDeps = {
  activities: Pick<Activities, "end">;
  /** Notes that a newer change has made it useless, before anybody was sent it: it has no deliveries. */
  messages: { supersede: (id: string) => Promise<void> } & BeginningDeps;
  inOrder: InOrder;
  clock: Clock;
};

/**
 * Sends an update or an end of a live activity to all devices in one turn of the activity, a page after another, so that
 * nothing has to be stored to send it. Starts are moved on as usual.
 */
export const activityTurn =
  (deps: ActivityTurnDeps): Strategy["turn"] =>
  async (first, steps) => {
    const { message, app, lease } = first;
    const { live_activity: live, planned } = message;
    if (live === undefined || live.event === "start" || planned) return steps.turn(message, app, lease);
    if (live.event === "end") await deps.activities.end(live.activity, message._id, deps.clock.now());
    const all = { ...deps, ...steps };
    const result = await deps.inOrder(message, lease, async ({ isSuperseded }, ours): Promise<TurnResult> => {
      if (!isSuperseded) return sendAll(all, { message, app, lease: ours });
      if (message.fence > 1) return sendAll(all, { message: superseding(message), app, lease: ours });
      await deps.messages.supersede(message._id);
      return { kind: "complete", all: [] };
    });
    return result ?? { kind: "halted" };
  };

type SendAllDeps = Pick<ActivityTurnDeps, "messages" | "clock"> & Pick<Steps, "send" | "audience">;

const sendAll = async (deps: SendAllDeps, first: First): Promise<TurnResult> => {
  const begin = await firstPieces(deps.audience, first.message);
  if (begin.length === 0) return { kind: "complete" };
  if (begin.every(({ recipients }) => recipients.length < chunkSize)) return sendNow(deps, first, begin);
  let hasRetries = false;
  let position = 0;
  for (
    let piece: Piece | null = begin[0] ?? null;
    piece !== null;
    piece = await nextPiece(deps.audience, first.message, piece.scanned)
  ) {
    const sent = await sendPiece(deps, first, piece, position++);
    if (sent.kind !== "sent") return { kind: "halted" };
    hasRetries ||= sent.hasRetries;
  }
  return hasRetries ? { kind: "under_way", planned: true } : { kind: "complete" };
};

/** The first page of each channel: where none is full, they are everybody. */
const firstPieces = async (audience: AudienceDeps, message: MessageRow): Promise<Piece[]> => {
  const found = await Promise.all(
    message.channels.map((channel) => nextPiece(audience, { ...message, channels: [channel] }, null)),
  );
  return found.filter((piece) => piece !== null);
};

const sendPiece = (
  { send, clock }: SendAllDeps,
  { message, app, lease }: First,
  piece: Piece,
  position: number,
): Promise<Sent> => {
  const chunk = { ...chunkOf(message, piece, position, clock.now()), fence: message.fence };
  return send({ message, app, chunks: [{ chunk, rows: piece.rows }], holder: message._id, isWhole: false }, lease);
};

/** Sends chunks, those of updates and ends of live activities in their order: what was to be tried again may be outdated. */
export const sendInOrder =
  (inOrder: InOrder): Strategy["send"] =>
  async (batch, lease, send) => {
    const { message } = batch;
    if (message.live_activity === undefined || message.live_activity.event === "start") return send(batch, lease);
    const sent = await inOrder(message, lease, ({ isSuperseded }, ours) =>
      send({ ...batch, message: isSuperseded ? superseding(message) : message }, ours),
    );
    return sent ?? { kind: "halted", stored: [], hasRetries: false };
  };

/** A copy of a message that says that no device is to get it. */
const superseding = (message: MessageRow): MessageRow =>
  message.live_activity === undefined
    ? message
    : { ...message, live_activity: { ...message.live_activity, is_superseded: true } };
