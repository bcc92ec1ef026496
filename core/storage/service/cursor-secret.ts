import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";

type CursorSecretRow = { _id: "cursors"; secret: string };

export const cursorSecretCollection: CollectionSpec = {
  name: "cursor_secrets",
  indexes: [],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "cursors do not expire" },
};

/**
 * What the cursors of an installation are signed with, in all replicas and for good: the secret that was kept first, or
 * `made` when there is none yet. It is stored in the open: a signature only shows that a cursor is ours, and who made one
 * up would read no more than their key may read anyway. The key ring would not do: its keys come and go, and cursors do
 * not expire.
 */
export const keepCursorSecret = async (db: Db, made: Buffer): Promise<Buffer> => {
  const rows = collectionOf<CursorSecretRow>(db, cursorSecretCollection);
  const find = () => rows.findOne({ _id: "cursors" });
  const row = { _id: "cursors", secret: made.toString("base64") } as const;
  const kept = (await find()) ?? ((await insertNew(rows, row)) ? null : await find());
  return kept === null ? made : Buffer.from(kept.secret, "base64");
};
