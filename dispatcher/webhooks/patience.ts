/** How much an endpoint is given at once, and for how long: by how it has answered so far. */
export type Patience = {
  /** A request has ended. */
  ended: (nowMs: number) => void;
  /** Since the last one ended, ms. */
  quietMs: (nowMs: number) => number;
  /** Deliveries in memory of an endpoint that answers: what it answered in the last whole second, within bounds. */
  room: () => number;
  /** So long a delivery of an endpoint that answered last may be in memory only, ms. */
  limitMs: (nowMs: number) => number;
};

const room = { least: 200, most: 600 };
/** While an endpoint answers, what waits does so for its turn; once it is silent, it may hang. */
const limitMs = { answering: 2_000, silent: 500 };

export const patience = (beganMs: number): Patience => {
  let [lastMs, windowMs, count, places] = [beganMs, beganMs, 0, room.most];
  const quietMs = (nowMs: number): number => nowMs - lastMs;
  return {
    ended: (nowMs) => {
      lastMs = nowMs;
      count++;
      const tookMs = nowMs - windowMs;
      if (tookMs < 1_000) return;
      places = Math.min(Math.max((count * 1_000) / tookMs, room.least), room.most);
      [windowMs, count] = [nowMs, 0];
    },
    quietMs,
    room: () => Math.floor(places),
    limitMs: (nowMs) => (quietMs(nowMs) < limitMs.silent ? limitMs.answering : limitMs.silent),
  };
};
