import { pagesOf } from "#core/storage/exports/pages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import type { ExportSource } from "./type.ts";

/** Imports may have counted a person's sessions elsewhere; the service itself counts none. */
type ExportedUser = UserRow & { session_count?: number };

export const users: ExportSource<ExportedUser> = {
  columns: [
    { name: "id", of: (row) => row._id },
    { name: "external_id", of: (row) => row.external_id },
    { name: "tags", of: (row) => row.tags },
    { name: "properties", of: (row) => row.properties },
    { name: "session_count", of: (row) => row.session_count ?? 0 },
    { name: "first_seen_at", of: (row) => row.first_seen_at },
    { name: "last_active_at", of: (row) => row.last_active_at },
    { name: "created_at", of: (row) => row.created_at },
  ],
  pages: (db, of) =>
    pagesOf(collectionOf<ExportedUser>(db, userCollection), of, {
      kind: "user",
      hint: "app",
      members: ["external_id", "tags", "properties", "session_count", "first_seen_at", "last_active_at", "created_at"],
    }),
};
