import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Gone } from "#core/storage/people/ended.ts";
import type { Lease } from "../../work/lease.ts";
import type { Instead } from "./instead.ts";
import type { Later } from "./later.ts";
import type { Again } from "./retry.ts";

/** A piece of work: a chunk, the message that it is a part of, and the app that sends it. */
export type Work = {
  chunk: ChunkRow;
  message: MessageRow;
  app: AppRow;
  /** The recipients, when they were read a moment ago. */
  rows?: readonly Reached[] | undefined;
  /** Awaited before a recipient is handed to the provider: false when none may be any more. */
  begin?: (() => Promise<boolean>) | undefined;
};

/** Sends a piece of work to its recipients, and stores what became of each. */
export type Deliver = (work: Work, lease: Pick<Lease, "isOver">) => Promise<Delivered>;

/**
 * What a run left behind: every delivery that is stored, those among them that this run stored, whom to try again,
 * whose address is gone, how many more would be if that could be believed, and whether it was halted before it reached
 * everyone.
 */
export type Delivered = {
  stored: DeliveryRow[];
  fresh: DeliveryRow[];
  again: Again[];
  /** Whom to send to at a later instant, for the first time. Left out: nobody. */
  later?: Later[];
  invalid: Gone[];
  doubted: number;
  halted: boolean;
  /** Who is sent to in the place of those who could not be. */
  instead?: readonly Instead[];
};
