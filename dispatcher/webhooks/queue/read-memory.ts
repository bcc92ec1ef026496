/**
 * What endpoint queues have read of the store and have in memory, over all endpoint queues, in characters of bodies (one byte each, or two).
 * Nobody waits for room, which an endpoint queue whose endpoint hangs might hold: all endpoint queues read less at a time instead.
 */
export type ReadMemory = {
  add: (characters: number) => void;
  /** How much an endpoint queue may read at a time now. */
  page: () => number;
};

const most = 64_000_000;
const page = { usual: 1_400_000, least: 140_000 }; // 21 bodies of 64 KB, and two

export const readMemory = (mostCharacters = most): ReadMemory => {
  let used = 0;
  return {
    add: (characters) => {
      used += characters;
    },
    page: () => (used < mostCharacters ? page.usual : page.least),
  };
};
