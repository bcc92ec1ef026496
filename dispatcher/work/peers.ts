/** How many dispatchers there are, as far as this one knows. */
export type Peers = {
  /** This one included, those that stop not. */
  count: () => number;
  /** The same, but one until others have been heard of: for what grows with each of them. */
  heardOf: () => number;
  are: (count: number) => void;
};

/** Until the others have been heard of, within the first second or so, there may be as many. */
const unheard = 8;

/** What several dispatchers may do together at most is divided by this. */
export const peers = (): Peers => {
  let known: number | null = null;
  return {
    count: () => known ?? unheard,
    heardOf: () => known ?? 1,
    are: (count) => {
      known = Math.max(1, count);
    },
  };
};
