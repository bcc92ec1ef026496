import type { Db } from "mongodb";
import { derivedId } from "../../domain/ids.ts";
import { mostVerdicts, type Verdict } from "../../domain/suppressions/verdicts.ts";
import type { ContactChannel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { refusedOf } from "../mongo/duplicate.ts";
import { inPages } from "../mongo/pages.ts";

/** What came of the last messages of an app, by one provider, to the addresses of one group. */
export type VerdictsRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  last: Verdict[];
  /** When something last came through. */
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

/** The addresses of a domain or country that a provider reaches for an app; `group` null: all of them. */
export type Reached = { of: OfApp; channel: ContactChannel; provider: string; group: string | null };

export const verdictsIdOf = ({ of, channel, provider, group }: Reached): string =>
  derivedId("addressVerdicts", of.appId, channel, provider, group ?? "");

const page = 500; // ids in one filter

/** The last verdicts on addresses, shared by all processes. */
export const verdicts = (db: Db) => {
  const rows = collectionOf<VerdictsRow>(db, verdictCollection);
  return {
    find: (ids: readonly string[]): Promise<VerdictsRow[]> =>
      inPages(ids, page, (some) => rows.find({ _id: { $in: some } }, { batchSize: page + 1 }).toArray()),

    /** Adds verdicts, one for each group. Two processes at once may both be heard, in either order. */
    add: async (all: readonly { of: Reached; fresh: readonly Verdict[] }[], now: Date): Promise<void> => {
      const writes = all.map(({ of, fresh }) => ({
        updateOne: {
          filter: { _id: verdictsIdOf(of) },
          update: {
            $push: { last: { $each: fresh.slice(-mostVerdicts), $slice: -mostVerdicts } },
            $set: { updated_at: now, ...(fresh.some(({ isGone }) => !isGone) && { through_at: now }) },
            $setOnInsert: {
              tenant_id: of.of.tenantId,
              app_id: of.of.appId,
              ...(fresh.every(({ isGone }) => isGone) && { through_at: null }),
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
