/** Places for messages in hand that the consumers of a process share. */
export type SharedPlaces = {
  /** Takes part. `held`: places that it has taken or asked for. `freed`: others have given some back. */
  join: (taken: () => number, freed: () => void) => Places;
};

/** What one consumer has of them. */
export type Places = {
  /** How many it may ask for now; more when its last request was met in full. */
  mayAsk: (isBusy: boolean) => number;
  /** It has given some back. */
  freed: () => void;
  leave: () => void;
};

/** Places of one consumer alone. */
export const placesOfOne = (most: number): SharedPlaces => ({
  join: (taken, freed) => ({ mayAsk: () => most - taken(), freed, leave: () => undefined }),
});

/**
 * `most` places for all, and `own` for each beyond that. A quiet one asks for `own` at most, and does so while others of its
 * messages are in hand: what it has taken already says nothing of what comes next, which would wait for it. A busy one asks
 * for half of what is free: so one that is far behind leaves places for the others, and what all ask for never comes to
 * more than there is.
 */
export const sharedPlaces = ({ most, own }: { most: number; own: number }): SharedPlaces => {
  const all = new Map<Places, { taken: () => number; freed: () => void }>();
  const shared = (taken: number): number => Math.max(0, taken - own);
  const free = (): number => most - [...all.values()].reduce((sum, { taken }) => sum + shared(taken()), 0);
  return {
    join: (taken, freed) => {
      const places: Places = {
        mayAsk: (isBusy) => {
          const half = Math.floor(free() / 2);
          return Math.max(own - taken(), isBusy ? half : Math.min(own, half));
        },
        freed: () => {
          for (const other of all.values()) other.freed();
        },
        leave: () => void all.delete(places),
      };
      all.set(places, { taken, freed });
      return places;
    },
  };
};
