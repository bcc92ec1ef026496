import { dateOf } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import { pagesOf } from "#core/storage/exports/pages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SuppressionRow, suppressionCollection } from "#core/storage/suppressions/suppressions.ts";
import type { ExportSource } from "./type.ts";

/** Addresses are shown: a list of whom not to write to is for other senders, too. */
export const suppressions: ExportSource<SuppressionRow> = {
  columns: [
    { name: "id", of: (row) => row._id },
    { name: "channel", of: (row) => row.channel },
    { name: "address", of: (row) => row.address },
    { name: "external_id", of: (row) => row.external_id },
    { name: "user_id", of: (row) => row.user_id },
    { name: "reason", of: (row) => row.reason },
    { name: "source", of: (row) => row.source },
    { name: "categories", of: (row) => row.categories },
    { name: "message_id", of: (row) => row.message_id },
    { name: "delivery_id", of: (row) => row.delivery_id },
    { name: "provider_code", of: (row) => row.provider_code },
    { name: "note", of: (row) => row.note },
    { name: "expires_at", of: (row) => row.expires_at },
    { name: "created_at", of: (row) => row.created_at },
    { name: "updated_at", of: (row) => row.updated_at },
  ],
  pages: (db, of, { channel, from, to }) =>
    pagesOf(collectionOf<SuppressionRow>(db, suppressionCollection), of, {
      kind: "suppression",
      hint: "list",
      filter: defined({ channel }),
      times: { from: dateOf(from), to: dateOf(to) },
      members: [
        "channel",
        "address",
        "external_id",
        "user_id",
        "reason",
        "source",
        "categories",
        "message_id",
        "delivery_id",
        "provider_code",
        "note",
        "expires_at",
        "created_at",
        "updated_at",
      ],
    }),
};
