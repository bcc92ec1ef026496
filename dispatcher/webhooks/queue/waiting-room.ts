export type WaitingRoomDeps = {
  nowMs: () => number;
  /** How many deliveries would be taken now. */
  room: () => number;
  /** How many will probably be taken within a second. */
  perSecond: () => number;
  /** Whether there will be room soon. */
  isWorthWaiting: () => boolean;
};

/** Callers that have new deliveries for an endpoint queue and wait for room, in the order in which they came. */
export type WaitingRoom = {
  /** Resolves when there is room for `count` deliveries, at most `most`. Null when there is, or waiting is not worth it. */
  enter: (count: number, most: number) => Promise<void> | null;
  /** Lets in callers for whom there is room, and those who have waited long enough. To be called often. */
  admit: () => void;
};

/** By then a queue that has fallen behind has caught up: to leave what comes to the store would keep it behind. */
const mostMs = 15_000;
/** What is not let in by then, at the endpoint's rate, is not worth waiting for. */
const soonSeconds = 5;

export const waitingRoom = ({ nowMs, room, perSecond, isWorthWaiting }: WaitingRoomDeps): WaitingRoom => {
  const waiting: { count: number; sinceMs: number; letIn: () => void }[] = [];
  const ahead = (): number => waiting.reduce((sum, { count }) => sum + count, 0);
  return {
    enter: (count, most) => {
      const wanted = Math.min(count, most);
      const isFree = waiting.length === 0 && room() >= wanted;
      if (isFree || ahead() + count > soonSeconds * perSecond() || !isWorthWaiting()) return null;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count: wanted, sinceMs: nowMs(), letIn: resolve });
      return promise;
    },
    admit: () => {
      let left = room();
      const enough = isWorthWaiting() ? nowMs() - mostMs : Number.POSITIVE_INFINITY;
      for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
        if (first.count > left && first.sinceMs > enough) return;
        waiting.shift();
        left -= first.count;
        first.letIn();
      }
    },
  };
};
