import type { Db } from "mongodb";
import { quarterMs } from "../../domain/durations.ts";
import { type CollectionSpec, collectionOf, type OfApp, type Person } from "../mongo/collection.ts";
import { retryConflicts } from "../mongo/duplicate.ts";
import type { OnPage } from "../mongo/pages.ts";
import { removePages } from "../work/removal-pages.ts";

/** When a person's devices began sessions in a month of UTC: for retention. `_id`: the user's id and the month. */
export type SessionMonthRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  user_id: string;
  month: Date;
  /** Quarters of an hour since the month began, in which a session did; in no order. */
  quarters: number[];
  /** When the first of them was told. */
  begun_at: Date;
};

const keptDays = 800; // as long as what else is counted

export const sessionMonthCollection: CollectionSpec = {
  name: "session_months",
  indexes: [
    { key: { app_id: 1, user_id: 1, month: 1 }, name: "user" },
    { key: { app_id: 1, begun_at: 1 }, name: "begun" },
    { key: { month: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" }, // what was told of a user who was merged into another one is read as theirs
  appRemoval: { index: "user" },
  erasure: { erase: (db, person, onPage) => erasePerson(db, person, onPage) },
  retention: { index: "retention" },
};

export type SessionMonths = ReturnType<typeof sessionMonths>;

export const sessionMonths = (db: Db) => {
  const rows = collectionOf<SessionMonthRow>(db, sessionMonthCollection);
  return {
    /** Keeps that a session began. May be repeated. */
    add: async (user: { _id: string; tenant_id: string; app_id: string }, at: Date, now: Date): Promise<void> => {
      const month = monthOf(at);
      const quarter = Math.floor((at.getTime() - month.getTime()) / quarterMs);
      const { _id: user_id, tenant_id, app_id } = user;
      const update = {
        $addToSet: { quarters: quarter },
        $setOnInsert: { tenant_id, app_id, user_id, month, begun_at: now },
      };
      const _id = `${user_id}/${month.toISOString().slice(0, 7)}`;
      await retryConflicts(() => rows.updateOne({ _id }, update, { upsert: true }));
    },

    /** When the first session of an app was kept that still is; null without one. */
    first: async ({ tenantId, appId }: OfApp): Promise<Date | null> => {
      const options = { hint: "begun", sort: { begun_at: 1 }, projection: { begun_at: 1 } } as const;
      const filter = { app_id: appId, begun_at: { $gt: new Date(0) }, tenant_id: tenantId };
      return (await rows.findOne(filter, options))?.begun_at ?? null;
    },
  };
};

/** The month of UTC that an instant is in: its first moment. */
export const monthOf = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()));

const erasePerson = async (db: Db, { appId, userId, keys }: Person, onPage?: OnPage): Promise<number> => {
  const rows = collectionOf<SessionMonthRow>(db, sessionMonthCollection);
  for (const user of new Set([userId, ...keys].filter((key) => key.startsWith("usr_"))))
    await removePages(rows, {
      filter: { app_id: appId, user_id: user },
      hint: "user",
      pages: Number.POSITIVE_INFINITY,
      onPage,
    });
  return 0;
};
