import type { Db } from "mongodb";
import { type FigureName, type Figures, figureNames, heartbeatMs } from "../../domain/status/rules.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";

/** A process that runs, and what it has counted in the last five minutes. `_id` is unique to the process. */
export type HeartbeatRow = {
  _id: string;
  program: "apiserver" | "dispatcher";
  /** Figures that it does not count are left out. */
  figures: Partial<Figures>;
  at: Date;
};

export const heartbeatCollection: CollectionSpec = {
  name: "heartbeats",
  indexes: [{ key: { at: 1 }, name: "retention", expireAfterSeconds: 3_600 }],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

const mostProcesses = 2_000;

/** What the programs say of themselves. Source: docs/reference/status.md#rules. */
export const heartbeats = (db: Db) => {
  const rows = collectionOf<HeartbeatRow>(db, heartbeatCollection);
  return {
    beat: async ({ _id, ...row }: HeartbeatRow): Promise<void> => {
      await rows.updateOne({ _id }, { $set: row }, { upsert: true });
    },

    /** Of a process that ends. */
    stop: async (id: string): Promise<void> => {
      await rows.deleteOne({ _id: id });
    },

    /** The figures of all processes that run, together. */
    figures: async (now: Date): Promise<Figures> => {
      const since = new Date(now.getTime() - heartbeatMs);
      const until = new Date(now.getTime() + heartbeatMs); // their clocks may differ
      const found = await rows
        .find({ at: { $gt: since, $lt: until } }, { hint: "retention" })
        .limit(mostProcesses)
        .toArray();
      return summed(found);
    },
  };
};

const summed = (found: readonly HeartbeatRow[]): Figures => {
  const sums = figureNames.map((name): [FigureName, number] => [
    name,
    found.reduce((sum, { figures }) => sum + (figures[name] ?? 0), 0),
  ]);
  const dispatchers = found.filter(({ program }) => program === "dispatcher").length;
  return { ...(Object.fromEntries(sums) as Record<FigureName, number>), dispatchers }; // sound: each of them is summed
};
