import { createHmac, randomBytes } from "node:crypto";
import type { Db } from "mongodb";
import { type KeyRing, openShared, type Sealed } from "../../runtime/process/key-ring.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";

/** What the addresses in an app's warehouse files are hashed with, sealed. `_id` is the app's. */
export type HashKeyRow = { _id: string; tenant_id: string; app_id: string; key: Sealed };

export const hashKeyCollection: CollectionSpec = {
  name: "warehouse_keys",
  indexes: [{ key: { app_id: 1 }, name: "app" }],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "as long as its app: files of all times have the same hash of an address" },
};

export type HashKeys = ReturnType<typeof hashKeys>;

/** Gives an app's key as 64 hexadecimal digits: random, and the one that was kept first. @throws Error for one that cannot be opened */
export const hashKeys = (db: Db, { seal, open }: Pick<KeyRing, "seal" | "open">) => {
  const rows = collectionOf<HashKeyRow>(db, hashKeyCollection);
  return async ({ tenantId, appId }: OfApp): Promise<string> => {
    const find = () => rows.findOne({ _id: appId, tenant_id: tenantId });
    const made = (): HashKeyRow => {
      const key = seal(randomBytes(32).toString("hex"), hashKeyPlace(appId));
      return { _id: appId, tenant_id: tenantId, app_id: appId, key };
    };
    const keep = async (row: HashKeyRow) => ((await insertNew(rows, row)) ? row : find());
    const kept = (await find()) ?? (await keep(made()));
    if (kept === null) throw new Error(`the key of ${appId} was removed as it was made`);
    return openShared(open, kept.key, hashKeyPlace(appId), "the hashes of warehouse exports");
  };
};

/** Where a key is sealed for. */
export const hashKeyPlace = (appId: string): string => `warehouse_keys/${appId}`;

/** HMAC-SHA256 under such a key, as 64 hexadecimal digits. */
export const hashUnder = (key: string): ((address: string) => string) => {
  const bytes = Buffer.from(key, "hex");
  return (address) => createHmac("sha256", bytes).update(address).digest("hex");
};
