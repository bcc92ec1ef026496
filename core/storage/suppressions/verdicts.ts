import type { Db } from "mongodb";
import { derivedId } from "../../domain/ids.ts";
import { mostVerdicts, type Verdict } from "../../domain/suppressions/verdicts.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { refusedOf } from "../mongo/duplicate.ts";
import { inPages } from "../mongo/pages.ts";

/** What came of the last messages of an app, by one provider, to the addresses of one {@link Group}. */
export type VerdictsRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  last: Verdict[];
  /** When a receipt last told of something that came through. */
  through_at: Date | null;
  updated_at: Date;
};

const keptDays = 30;

export const verdictCollection: CollectionSpec = {
  name: "address_verdicts",
  indexes: [
    { key: { app_id: 1 }, name: "app" },
    { key: { updated_at: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "ids of deliveries and counts: nothing of whom they were for" },
  retention: { index: "retention" },
};

/**
 * Addresses that a provider reaches for an app. `part`: the country code or mail domain that they share; `revision N`: all
 * of them, by the account as it was set up then; null: all of them.
 */
export type Group = { of: OfApp; channel: Channel; provider: string; part: string | null };

export const groupIdOf = ({ of, channel, provider, part }: Group): string =>
  derivedId("addressVerdicts", of.appId, channel, provider, part ?? "");

/** What was heard of a group. `isThrough`: receipts told of something that came through. */
export type Heard = { of: Group; fresh: readonly Verdict[]; isThrough: boolean };

const page = 500; // ids in one filter

/** The last verdicts on addresses, shared by all processes. */
export const verdicts = (db: Db) => {
  const rows = collectionOf<VerdictsRow>(db, verdictCollection);
  return {
    find: (ids: readonly string[]): Promise<VerdictsRow[]> =>
      inPages(ids, page, (some) => rows.find({ _id: { $in: some } }, { batchSize: page + 1 }).toArray()),

    /** Adds verdicts, one for each group. Two processes at once may both be heard, in either order. */
    add: async (all: readonly Heard[], now: Date): Promise<void> => {
      const writes = all.map(({ of, fresh, isThrough }) => ({
        updateOne: {
          filter: { _id: groupIdOf(of) },
          update: {
            $push: { last: { $each: fresh.slice(-mostVerdicts), $slice: -mostVerdicts } },
            $set: { updated_at: now, ...(isThrough && { through_at: now }) },
            $setOnInsert: {
              tenant_id: of.of.tenantId,
              app_id: of.of.appId,
              ...(!isThrough && { through_at: null }),
            },
          },
          upsert: true,
        },
      }));
      const write = (some: typeof writes) => rows.bulkWrite(some, { ordered: false });
      // another process may make the same document at this moment
      if (writes.length > 0) await write(writes).catch((error: unknown) => write(refusedOf(writes, error)));
    },
  };
};
