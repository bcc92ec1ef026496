import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";

/** A link in a message to one recipient, under the code of its short address. Written once, before the message is sent. */
export type LinkRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  message_id: string;
  delivery_id: string;
  url: string;
  created_at: Date;
};

/** As long as receipts move a delivery. Source: docs/reference/texts.md#short-links. */
const keptDays = 90;

export const linkCollection: CollectionSpec = {
  name: "links",
  indexes: [
    { key: { app_id: 1, _id: 1 }, name: "app" },
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "an address that was sent, by the id of its delivery, until its retention" },
  retention: { index: "retention" },
};

export const links = (db: Db) => {
  const rows = collectionOf<LinkRow>(db, linkCollection);
  return {
    /** Stores links; those that are there stay as they are. */
    keep: (made: readonly LinkRow[]): Promise<Set<string>> => insertMissing(rows, made),

    /** The link of a short address. Its code is the only key to it: whoever asks need not be known. */
    byCode: (code: string): Promise<LinkRow | null> => rows.findOne({ _id: code }),
  };
};
