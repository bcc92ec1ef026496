/** How many dispatchers there are, as far as this one knows. */
export type Peers = {
  /** This one included, those that stop not. */
  count: () => number;
  are: (count: number) => void;
};

/** Until the others have been heard of, within the first second or so, there may be as many. */
const unheard = 8;

/** What several dispatchers may do together at most is divided by this. */
export const peers = (): Peers => {
  let known = unheard;
  return {
    count: () => known,
    are: (count) => {
      known = Math.max(1, count);
    },
  };
};
