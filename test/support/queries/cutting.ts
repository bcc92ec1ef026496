import type { Collection, Db } from "mongodb";

/** What a process that was killed answers: nothing that it asks for is done any more. */
export class Killed extends Error {}

export type Cut = {
  /** Which of the writes the kill comes at, from 1 on. */
  at: number;
  /** Whether that write still reaches the store. */
  isDone: boolean;
};

const writes = ["insertMany", "insertOne", "bulkWrite", "updateOne", "updateMany", "deleteMany", "deleteOne"];

/**
 * A database as a process sees it that is killed at one of its writes. `passed` says how many writes there were: when it is
 * below the cut, the process ended before.
 */
export const cutAt = (
  db: Db,
  cut: Cut,
): { db: Db; passed: () => number; guard: <T>(act: () => Promise<T>) => Promise<T> } => {
  let count = 0;
  const isDead = (): boolean => count >= cut.at;
  const guard = async <T>(act: () => Promise<T>): Promise<T> => {
    if (isDead()) throw new Killed();
    count++;
    if (!isDead()) return act();
    if (cut.isDone) await act();
    throw new Killed();
  };
  const cutCollection = (rows: Collection): Collection =>
    new Proxy(rows, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        const call = (...given: unknown[]): unknown => Reflect.apply(member, target, given);
        if (!writes.includes(String(name))) return call;
        return (...given: unknown[]) => guard(async () => call(...given));
      },
    });
  const cutDb = new Proxy(db, {
    get: (target, name) => {
      if (name === "collection") return (of: string) => cutCollection(target.collection(of));
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  return { db: cutDb, passed: () => count, guard };
};
