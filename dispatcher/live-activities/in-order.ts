import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import type { Activities } from "#core/storage/live-activities/activities.ts";
import type { LiveActivityMessages } from "#core/storage/messages/live-activities.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { type Lease, underLease } from "../work/lease.ts";

export type InOrderDeps = {
  activities: Pick<Activities, "takeTurn" | "extendTurn" | "endTurn">;
  sent: Pick<LiveActivityMessages, "newerBegun">;
  /** Unique to this process. */
  holder: string;
  /** A turn lasts so long unless it is extended: so long a killed process keeps an activity's next update back. */
  timing: Pick<Timing, "turnMs">;
  clock: Clock;
};

const pauseMs = { first: 5, most: 40 };
const waitMs = 5_000;

/** Whether a newer change of the activity has begun, which every device gets: then this one is sent to nobody. */
export type Superseded = { isSuperseded: boolean };

export type InOrder = ReturnType<typeof inOrder>;

/**
 * Runs what sends an update, or the end, of a live activity, while nobody else sends one of the same activity: no device
 * gets an older state after a newer one, and of those that wait only the newest is sent. Null when the turn could not be
 * had in 5 s. Source: docs/decisions/0073.
 */
export const inOrder =
  ({ activities, sent, holder, timing: { turnMs: termMs }, clock }: InOrderDeps) =>
  async <T>(
    message: MessageRow,
    lease: Lease,
    send: (how: Superseded, lease: Lease) => Promise<T>,
  ): Promise<T | null> => {
    const id = message.live_activity?.activity ?? "";
    const endsMs = performance.now() + waitMs;
    for (let pause = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.most)) {
      const taken = await activities.takeTurn(id, { holder, now: clock.now(), termMs });
      const isSuperseded = (await sent.newerBegun(message)) !== null;
      const free = async (): Promise<void> => {
        if (taken !== null) await activities.endTurn(taken).catch(() => undefined); // it ends by itself
      };
      if (isSuperseded) {
        await free(); // nothing is sent: no turn is needed
        return send({ isSuperseded }, lease);
      }
      if (taken !== null) {
        const extend = (now: Date): Promise<boolean> => activities.extendTurn(taken, now, termMs);
        const run = (turn: Lease): Promise<T> => send({ isSuperseded }, both(lease, turn));
        return underLease({ taken: { lease: taken.sender }, extend, stops: [], clock, termMs }, run).finally(free);
      }
      if (lease.isOver() || performance.now() > endsMs) return null;
      await sleep(pause);
    }
  };

const both = (a: Lease, b: Lease): Lease => ({
  isLost: () => a.isLost() || b.isLost(),
  isOver: () => a.isOver() || b.isOver(),
});
