import type { Db } from "mongodb";
import { AppError } from "../../errors.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { deletions } from "../warehouse/deletions.ts";
import { entryCounts } from "./counts.ts";
import { type SuppressionRow, suppressionCollection } from "./suppressions.ts";

export type SuppressionWishes = ReturnType<typeof suppressionWishes>;

type Place = Pick<SuppressionRow, "subject" | "channel">;

/** What of an entry says what is held back, and where. */
export type PlacedEntry = Place & Pick<SuppressionRow, "reason" | "categories">;
const placed = { _id: 0, subject: 1, channel: 1, reason: 1, categories: 1 } as const;

const attempts = 10;

/** What people's own wishes do with the one entry about them on a channel. */
export const suppressionWishes = (db: Db) => {
  const rows = collectionOf<SuppressionRow>(db, suppressionCollection);
  const [counts, deleted] = [entryCounts(db, rows), deletions(db)];
  const entry = ({ tenantId, appId }: OfApp, { subject, channel }: Place, now: Date): Promise<SuppressionRow | null> =>
    rows.findOne(
      { app_id: appId, subject, channel, tenant_id: tenantId, expires_at: { $not: { $lte: now } } },
      { hint: "subject" },
    );
  return {
    /** The entry about a subject on a channel that lasts; null when there is none. */
    entry,

    /** The entries that last about a person's subjects, on any channel. */
    about: ({ tenantId, appId }: OfApp, subjects: readonly string[], now: Date): Promise<PlacedEntry[]> =>
      rows
        .find(
          {
            app_id: appId,
            subject: { $in: [...subjects] },
            tenant_id: tenantId,
            expires_at: { $not: { $lte: now } },
          },
          { projection: placed, hint: "subject" },
        )
        .toArray(),

    /**
     * Leaves the entry with the categories that `left` gives, and takes it away when there are none; null: it stays.
     * @throws AppError HS_CONFLICT when others change the entry all the time
     */
    wish: async (of: OfApp, place: Place, left: (row: SuppressionRow) => string[] | null, now: Date): Promise<void> => {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const row = await entry(of, place, now);
        const categories = row === null ? null : left(row);
        if (row === null || categories === null) return;
        const filter = { _id: row._id, tenant_id: row.tenant_id, revision: row.revision };
        if (categories.length > 0) {
          const change = { $set: { categories, updated_at: now }, $inc: { revision: 1 } };
          if ((await rows.updateOne(filter, change)).matchedCount === 1) return;
          continue;
        }
        await deleted.note(of, "suppressions", [row._id], now);
        const { deletedCount } = await rows.deleteOne(filter);
        await counts.add(of.appId, -deletedCount);
        if (deletedCount === 1) return;
      }
      throw new AppError("HS_CONFLICT", "the same entries are being changed by others", { status: "busy" });
    },
  };
};
