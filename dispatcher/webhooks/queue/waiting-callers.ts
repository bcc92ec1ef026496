export type WaitingCallersDeps = {
  nowMs: () => number;
  /** How many deliveries would be taken now. */
  free: () => number;
  /** How many will probably be taken within a second. */
  perSecond: () => number;
  /** Whether more can be taken soon. */
  isWorthWaiting: () => boolean;
};

/** Callers that have new deliveries for an endpoint queue and wait until it can take them, in the order in which they came. */
export type WaitingCallers = {
  /** Resolves when it can take `count` deliveries, at most `most`. Null when it can now, or waiting is not worth it. */
  enter: (count: number, most: number) => Promise<void> | null;
  /** Lets in callers whose deliveries can be taken, and those who have waited long enough. To be called often. */
  admit: () => void;
};

/** By then a queue that has fallen behind has caught up: to leave what comes to the store would keep it behind. */
const mostMs = 15_000;
/** What is not let in by then, at the endpoint's rate, is not worth waiting for. */
const soonSeconds = 5;

export const waitingCallers = ({ nowMs, free, perSecond, isWorthWaiting }: WaitingCallersDeps): WaitingCallers => {
  const waiting: { count: number; sinceMs: number; letIn: () => void }[] = [];
  const ahead = (): number => waiting.reduce((sum, { count }) => sum + count, 0);
  return {
    enter: (count, most) => {
      const wanted = Math.min(count, most);
      const isFree = waiting.length === 0 && free() >= wanted;
      if (isFree || ahead() + count > soonSeconds * perSecond() || !isWorthWaiting()) return null;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count: wanted, sinceMs: nowMs(), letIn: resolve });
      return promise;
    },
    admit: () => {
      let left = free();
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
