/**
 * Over how many seconds those who get a message report that it came, so that not all do at once: 1,000 of them a second where that
 * takes no longer than {@link longestSpreadSeconds}. 0: each at once.
 */
export const reportSpreadSeconds = (recipients: number): number =>
  Math.min(longestSpreadSeconds, Math.floor(recipients / 1_000));

/** Browsers end a worker that has shown its push after half a minute. */
const longestSpreadSeconds = 20;
