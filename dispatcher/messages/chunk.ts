import type { Clock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import type { Settlement } from "#core/queue/jetstream/worker.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Aside } from "../work/aside.ts";
import type { Hints } from "../work/hints.ts";
import { inTrace } from "../work/in-trace.ts";
import type { Lease } from "../work/lease.ts";
import type { Suspensions } from "../work/suspensions.ts";
import { whileAllowed } from "./lease.ts";
import type { SendChunks, Sent } from "./send-chunks.ts";

export type ChunkDeps = {
  chunks: {
    take: (id: string, now: Date) => Promise<ChunkRow | null>;
    extend: (chunk: ChunkRow, now: Date) => Promise<boolean>;
    /** False when its lease was lost. */
    end: (chunk: ChunkRow) => Promise<boolean>;
    /** Gives it back to be run again at `dueAt`. */
    giveBack: (chunk: ChunkRow, dueAt: Date) => Promise<boolean>;
    /** Gives it back until its tenant may send again. */
    defer: (chunk: ChunkRow, dueAt: Date) => Promise<boolean>;
  };
  messages: { content: (chunk: ChunkRow, now: Date) => Promise<MessageRow | null> };
  /** Ends deliveries of a chunk that is not sent any more. */
  cancelWaiting: (chunk: ChunkRow, now: Date) => Promise<void>;
  directory: Pick<Directory, "app">;
  send: SendChunks;
  /** Finds who is meant of a range of the audience, and makes chunks of them. */
  planRange: (range: { chunk: ChunkRow; message: MessageRow }, lease: Lease) => Promise<Pick<Sent, "kind">>;
  /** Runs chunks whose recipients have instants of their own, which mostly wait; false when there is no room. */
  aside: Aside["run"];
  suspensions: Suspensions;
  timing: Pick<Timing, "leaseMs">;
  hints: Pick<Hints, "message">;
  stopping: AbortSignal;
  clock: Clock;
};

const done: Settlement = { kind: "done" };
const soonMs = 5_000; // then a chunk is run again that failed, or whose events JetStream did not take

/** Runs one chunk of the queue: sends it, or plans its range, ends it, and gives its message a turn. Safe to run twice, and to be killed. */
export const runChunk =
  (deps: ChunkDeps) =>
  async (chunkId: string, traceparent: string | null = null): Promise<Settlement> => {
    const taken = await deps.chunks.take(chunkId, deps.clock.now());
    if (taken === null) return done; // ended, or another has its lease: should that one die, the timer publishes its hint
    const work = () => runOrGiveBack(deps, taken, traceparent);
    if (taken.is_throttled !== true || taken.attempt > 0) await work();
    else if (!deps.aside(work)) await giveBack(deps, taken, soonMs);
    return done;
  };

const runOrGiveBack = async (deps: ChunkDeps, taken: ChunkRow, traceparent: string | null): Promise<void> => {
  try {
    await run(deps, taken, traceparent);
  } catch (error) {
    await giveBack(deps, taken, soonMs).catch(() => undefined); // else it waits for the lease's end
    throw error;
  }
};

const run = async (deps: ChunkDeps, chunk: ChunkRow, traceparent: string | null): Promise<void> => {
  const isSuspended = (): boolean => deps.suspensions.has(chunk.tenant_id);
  if (isSuspended()) return defer(deps, chunk);
  const found = await deps.messages.content(chunk, deps.clock.now());
  const app = await deps.directory.app(chunk.app_id);
  if (found === null && chunk.has_rows === true) await deps.cancelWaiting(chunk, deps.clock.now());
  if (found === null || app === null) return end(deps, chunk, null);
  const message = inTrace(found, traceparent);

  const extend = (now: Date) => deps.chunks.extend(chunk, now);
  const { kind } = await whileAllowed(deps, { taken: chunk, extend }, (lease) =>
    chunk.range_after === undefined
      ? deps.send({ message, app, chunks: [{ chunk }], holder: chunk._id, isWhole: false }, lease)
      : deps.planRange({ chunk, message }, lease),
  );
  if (kind === "halted" && isSuspended()) return defer(deps, chunk);
  if (kind === "halted") return giveBack(deps, chunk, 0);
  if (kind === "unpublished") return giveBack(deps, chunk, soonMs);
  await end(deps, chunk, message.traceparent);
};

/** There may be room for its message's next chunk, or the message may be complete. */
const end = async ({ chunks, hints }: ChunkDeps, chunk: ChunkRow, traceparent: string | null): Promise<void> => {
  if (await chunks.end(chunk)) await hints.message({ ...chunk, traceparent }, `${chunk._id}:done`);
};

const giveBack = async ({ chunks, clock }: ChunkDeps, chunk: ChunkRow, inMs: number): Promise<void> => {
  await chunks.giveBack(chunk, new Date(clock.now().getTime() + inMs));
};

const defer = async ({ chunks, suspensions }: ChunkDeps, chunk: ChunkRow): Promise<void> => {
  await suspensions.defer(chunk.tenant_id, (dueAt) => chunks.defer(chunk, dueAt));
};
