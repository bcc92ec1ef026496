import type { Watcher } from "./people.ts";

/** The device that a stream is opened for. */
export type StreamOwner = {
  subscriptionId: string;
  secretHash: string;
  appId: string;
  userId: string;
  from: Date | null;
  /** When what it has proven ends. */
  untilMs: number;
};

/** An open stream, with what is looked at from time to time. */
export type Open = Watcher & StreamOwner & { writtenMs: number; endsMs: number };
