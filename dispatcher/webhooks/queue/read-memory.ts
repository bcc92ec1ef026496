/**
 * What lanes have read of the store and have in memory, over all lanes, in characters of bodies (one byte each, or two).
 * Nobody waits for room, which a lane whose endpoint hangs might hold: all lanes read less at a time instead.
 */
export type ReadMemory = {
  add: (characters: number) => void;
  /** How much a lane may read at a time now. */
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
