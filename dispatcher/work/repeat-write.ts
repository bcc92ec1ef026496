import { setTimeout as sleep } from "node:timers/promises";
import { isUnreachable } from "#core/storage/mongo/connect.ts";

const pauseMs = { first: 100, most: 1_000 };

/** Repeats a write that may be made twice for as long as the database is away, but not beyond `mostMs`. */
export const repeatWrite = async <T>(mostMs: number, write: () => Promise<T>): Promise<T> => {
  const endsAtMs = performance.now() + mostMs;
  for (let pause = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.most)) {
    try {
      return await write();
    } catch (error) {
      if (!isUnreachable(error) || performance.now() + pause > endsAtMs) throw error;
    }
    await sleep(pause);
  }
};
