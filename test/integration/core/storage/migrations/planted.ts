import type { Migration } from "#core/storage/migrations/migration.ts";

/** Migrations as a later release would bring them: each counts, in the document, how often it has changed it. */
export const planted: readonly Migration[] = [
  {
    version: 2,
    readableFrom: 1,
    collection: "planted",
    before: { title: { $exists: false } },
    change: (row) => ({ $set: { title: `${row["name"]}` }, $unset: { name: "" }, $inc: { changed: 1 } }),
  },
  {
    version: 3,
    readableFrom: 2,
    collection: "planted",
    before: { length: { $exists: false } },
    change: (row) => ({ $set: { length: `${row["title"]}`.length }, $inc: { changed: 1 } }),
  },
];
