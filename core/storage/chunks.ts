import type { SendableChannel } from "../domain/channels.ts";
import type { CollectionSpec } from "./collection.ts";
import { dueIndex, type Wakeable } from "./wake.ts";

/** Recipients of one chunk at most; also the page of the audience scan. */
export const chunkSize = 500;

/**
 * A part of a message's audience that is sent as one piece of work. Its id follows from (message, position), a retry's
 * from (chunk, attempt), so that making it twice makes it once.
 */
export type ChunkRow = Wakeable & {
  _id: string;
  message_id: string;
  tenant_id: string;
  app_id: string;
  plan: string;
  channel: SendableChannel;
  /** Position in the audience; retries keep their parent's. */
  position: number;
  /** `waiting`: not yet let into the queue; `open`: queued, being sent or due later; `done`. */
  status: "waiting" | "open" | "done";
  /** Subscription ids, ascending; emptied when done. */
  recipients: string[];
  /** Where the audience scan goes on after this chunk; null for retries and explicit audiences. */
  next: { channel: SendableChannel; status: string; after: string } | null;
  /** 0 for a first send; n for the n-th retry. */
  attempt: number;
  /** First dispatch of the recipients: the ttl counts from here. */
  first_attempt_at: Date | null;
  created_at: Date;
};

export const chunkCollection: CollectionSpec = {
  name: "chunks",
  indexes: [
    { key: { message_id: 1, position: 1, attempt: 1 }, name: "position" },
    { key: { message_id: 1, status: 1 }, name: "status" },
    dueIndex,
  ],
};
