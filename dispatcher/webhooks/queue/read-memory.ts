/**
 * Memory for what all endpoint queues have read of the store, in characters of bodies (one or two bytes each). Nobody waits
 * for it, as a queue whose endpoint hangs might keep it: when it is used up, all queues read less at a time.
 */
export type ReadMemory = {
  add: (characters: number) => void;
  /** How much an endpoint queue may read at a time now: little for an endpoint that does not answer and would keep it. */
  page: (isTrusted: boolean) => number;
};

const most = 64_000_000;
const page = { usual: 1_400_000, least: 140_000 }; // 21 bodies of 64 KB, and two

export const readMemory = (mostCharacters = most): ReadMemory => {
  let used = 0;
  return {
    add: (characters) => {
      used += characters;
    },
    page: (isTrusted) => (isTrusted && used < mostCharacters ? page.usual : page.least),
  };
};
