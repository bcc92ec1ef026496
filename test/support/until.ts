/**
 * By then what was announced is in force everywhere, however busy the machine is. It was the announcement that did it:
 * what is cached lives on for half a minute at least. What a quiet machine needs is judged by within-a-second.test.ts.
 */
export const announcedMs = 8_000;

/** Waits until a condition holds; fails after `mostMs`. */
export const until = async (holds: () => boolean | Promise<boolean>, mostMs = 5000): Promise<void> => {
  const endsAtMs = performance.now() + mostMs;
  while (!(await holds())) {
    if (performance.now() > endsAtMs) throw new Error(`a condition did not come true within ${mostMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
