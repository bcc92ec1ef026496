import type { OnCall } from "../../runtime/metrics/stores.ts";
import type { FileStore } from "./store.ts";

/** The same store, that tells how long each call took that it answered, if anybody wants to know. */
export const timedFiles = (store: FileStore, onCall: OnCall | undefined): FileStore => {
  if (onCall === undefined) return store;
  const timed =
    <Args extends unknown[], T>(call: (...given: Args) => Promise<T>) =>
    async (...given: Args): Promise<T> => {
      const beganMs = performance.now();
      const answer = await call(...given);
      onCall((performance.now() - beganMs) / 1_000);
      return answer;
    };
  const { write, read, sizeOf, remove, removeOld } = store;
  return {
    ...store,
    write: timed(write),
    read: timed(read),
    sizeOf: timed(sizeOf),
    remove: timed(remove),
    removeOld: timed(removeOld),
  };
};
