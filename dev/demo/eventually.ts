import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 100;

/** The first answer that is not null; null when there was none within the time. */
export const eventually = async <T>(read: () => Promise<T | null>, withinMs: number): Promise<T | null> => {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const answer = await read();
    if (answer !== null || performance.now() > deadlineMs) return answer;
    await sleep(pollMs);
  }
};
