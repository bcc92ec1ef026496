import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import { Unavailable } from "#core/errors.ts";
import { type Ensured, ensureStream } from "#core/queue/jetstream/streams.ts";
import { planStream, type StreamSpec, sharedStreams } from "#core/queue/jetstream/topology.ts";
import type { Platform } from "../records/platform.ts";

export type PlanStreams = ReturnType<typeof planStreams>;

/**
 * The streams through which the work of plans' tenants flows: one of each plan, and those that all share, so that an
 * installation takes events, receipts and callbacks before a dispatcher has run.
 */
export const planStreams = ({
  fence,
  jetstream: { nats, prefix, replicas, timing, partitioning },
}: Pick<Platform, "fence" | "jetstream">) => {
  const specOf = (name: string, backlogPerTenant: number): StreamSpec =>
    planStream(prefix, { name, backlogPerTenant }, timing);
  const nameOf = (plan: string): string => specOf(plan, 1).stream.name;
  /** Without a connection a call would only wait for its deadline. */
  const whenConnected = async <T>(call: () => Promise<T>): Promise<T> => {
    fence.check(); // JetStream itself cannot tell a leader from before
    if (!nats.isConnected()) throw new Unavailable("JetStream");
    return call().catch(translated);
  };
  let areSharedThere = false; // dispatchers, which read them, look after them from then on
  const ensureShared = async (): Promise<void> => {
    if (areSharedThere) return;
    for (const spec of sharedStreams(prefix, timing, partitioning)) await ensureStream(nats.jsm, spec, replicas);
    areSharedThere = true;
  };
  return {
    nameOf,
    /** Makes a plan's stream, or gives it another limit. @throws Unavailable when JetStream does not answer */
    ensure: (plan: string, backlogPerTenant: number): Promise<Ensured> =>
      whenConnected(async () => {
        await ensureShared();
        return ensureStream(nats.jsm, specOf(plan, backlogPerTenant), replicas);
      }),
    /** Does nothing when there is no such stream. @throws Unavailable */
    remove: (plan: string): Promise<void> =>
      whenConnected(async () => {
        await nats.jsm.streams.delete(nameOf(plan)).catch(ignoreMissing);
      }),
  };
};

const ignoreMissing = (error: unknown): void => {
  if (!(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)) throw error;
};

/** JetStream's own refusals stay as they are; everything else means that it did not answer. */
const translated = (error: unknown): never => {
  if (error instanceof JetStreamApiError) throw error;
  throw new Unavailable("JetStream", { cause: error });
};
