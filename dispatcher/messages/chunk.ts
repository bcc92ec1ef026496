import type { Clock } from "#core/domain/clock.ts";
import type { Settlement } from "#core/queue/jetstream/worker.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/messages.ts";
import { type Lease, underLease } from "../work/lease.ts";
import type { Suspensions } from "../work/suspensions.ts";
import type { Delivered, Work } from "./deliver.ts";

export type ChunkDeps = {
  take: (id: string, now: Date) => Promise<ChunkRow | null>;
  extend: (chunk: ChunkRow, now: Date) => Promise<boolean>;
  /** Ends the chunk, or gives it back to be run again at `dueAt`. False when its lease was lost. */
  end: (chunk: ChunkRow) => Promise<boolean>;
  giveBack: (chunk: ChunkRow, dueAt: Date) => Promise<boolean>;
  /** Gives it back until its tenant may send again. */
  hold: (chunk: ChunkRow, dueAt: Date) => Promise<boolean>;
  suspensions: Suspensions;
  /** Recipients that an earlier run of it already handed to a retry. */
  recipientsOfRetries: (chunkId: string) => Promise<string[]>;
  message: (id: string) => Promise<MessageRow | null>;
  app: (id: string) => Promise<AppRow | null>;
  deliver: (work: Work, hold: Lease) => Promise<Delivered>;
  followUp: (work: Pick<Work, "chunk" | "message">, delivered: Delivered, hold: Lease) => Promise<boolean>;
  count: (messageId: string, fresh: readonly DeliveryRow[]) => Promise<void>;
  /** Rings the message's hint: there may be room for its next chunk, or it may be complete. */
  ring: (
    message: Pick<ChunkRow, "message_id" | "plan" | "tenant_id"> & { traceparent: string | null },
    cause: string,
  ) => Promise<void>;
  stopping: AbortSignal;
  clock: Clock;
};

const done: Settlement = { kind: "done" };
const soonMs = 5_000; // until a chunk is run again that failed, or whose events JetStream did not take

/** Runs one chunk: sends, stores, follows up, ends it, and calls its message. Safe to run twice, and to be killed. */
export const runChunk =
  (deps: ChunkDeps) =>
  async (chunkId: string): Promise<Settlement> => {
    const taken = await deps.take(chunkId, deps.clock.now());
    if (taken === null) return done; // ended, or another holds it: should that one die, the timer rings
    try {
      return await run(deps, taken);
    } catch (error) {
      await again(deps, taken, soonMs).catch(() => undefined); // else it waits for the lease's end
      throw error;
    }
  };

const run = async (deps: ChunkDeps, taken: ChunkRow): Promise<Settlement> => {
  const { suspensions } = deps;
  if (suspensions.has(taken.tenant_id)) return held(deps, taken);
  const message = await deps.message(taken.message_id);
  const app = await deps.app(taken.app_id);
  if (message === null || app === null) return finish(deps, taken, null);

  const chunk = await withoutRetried(deps, taken);
  const extend = (now: Date) => deps.extend(chunk, now);
  const { delivered, complete } = await suspensions.during(chunk.tenant_id, (suspended) =>
    underLease({ taken, extend, stops: [deps.stopping, suspended], clock: deps.clock }, (hold) =>
      send(deps, { chunk, message, app }, hold),
    ),
  );
  if (delivered.halted && suspensions.has(chunk.tenant_id)) return held(deps, chunk);
  if (delivered.halted || !complete) return again(deps, chunk, delivered.halted ? 0 : soonMs);
  return finish(deps, chunk, message.traceparent);
};

const send = async (deps: ChunkDeps, work: Work, hold: Lease): Promise<{ delivered: Delivered; complete: boolean }> => {
  const delivered = await deps.deliver(work, hold);
  const complete = await deps.followUp(work, delivered, hold);
  await deps.count(work.message._id, delivered.fresh);
  return { delivered, complete };
};

const finish = async (deps: ChunkDeps, chunk: ChunkRow, traceparent: string | null): Promise<Settlement> => {
  if (await deps.end(chunk)) await deps.ring({ ...chunk, traceparent }, `${chunk._id}:done`);
  return done;
};

const again = async (deps: ChunkDeps, chunk: ChunkRow, inMs: number): Promise<Settlement> => {
  await deps.giveBack(chunk, new Date(deps.clock.now().getTime() + inMs));
  return done;
};

const held = async (deps: ChunkDeps, chunk: ChunkRow): Promise<Settlement> => {
  await deps.suspensions.defer(chunk.tenant_id, (dueAt) => deps.hold(chunk, dueAt));
  return done;
};

const withoutRetried = async (deps: ChunkDeps, chunk: ChunkRow): Promise<ChunkRow> => {
  if (chunk.fence === 1) return chunk; // nobody ran it before
  const retried = new Set(await deps.recipientsOfRetries(chunk._id));
  return { ...chunk, recipients: chunk.recipients.filter((id) => !retried.has(id)) };
};
