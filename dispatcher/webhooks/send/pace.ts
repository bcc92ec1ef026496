/** Says when the next request may begin: `perSecond` of them, evenly; null sets no limit. */
export type Pace = {
  /** 0 takes a turn now; else ms to wait. */
  take: (nowMs: number) => number;
};

const burstMs = 100; // so much delay may be made up for at once: timers are late by a few ms

/** A virtual clock (GCRA): each request moves it on by one gap. */
export const pace = (perSecond: number | null): Pace => {
  if (perSecond === null) return { take: () => 0 };
  const gapMs = 1000 / perSecond;
  let nextMs = 0;
  return {
    take: (nowMs) => {
      const atMs = Math.max(nextMs, nowMs - burstMs);
      if (atMs > nowMs) return atMs - nowMs;
      nextMs = atMs + gapMs;
      return 0;
    },
  };
};
