import { createHmac, randomBytes } from "node:crypto";
import type { Db } from "mongodb";
import type { Clock } from "../../domain/clock.ts";
import { type KeyRing, openShared, type Sealed } from "../../runtime/process/key-ring.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { cached } from "../settings/cached.ts";

/** What the subjects of an app's suppressions are made with, sealed. `_id` is the app's. */
export type SuppressionKeyRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  key: Sealed;
  /** How many entries the app has, and when they were last counted; absent until somebody asked. */
  entries?: number;
  counted_at?: Date;
};

export const suppressionKeyCollection: CollectionSpec = {
  name: "suppression_keys",
  indexes: [{ key: { app_id: 1 }, name: "app" }],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "as long as its app: entries of erased people are found by it" },
};

/** Makes the subject of an entry of what it is about: an address or an external id with its label. */
export type SubjectOf = (about: string) => string;

const bounds = { ttlMs: 600_000, max: 1_000 };

/**
 * Gives what makes the subjects of an app's entries: HMAC-SHA256 under a random key of the app's own, base64url. The key
 * is the one that was kept first, in all replicas and for good. It does not follow from the key ring, whose first key
 * changes: then no erased address would be known any more.
 */
export const suppressionKeys = (db: Db, { seal, open }: Pick<KeyRing, "seal" | "open">, clock: Clock) => {
  const rows = collectionOf<SuppressionKeyRow>(db, suppressionKeyCollection);
  const load = async (place: string): Promise<SubjectOf> => {
    const [tenantId = "", appId = ""] = place.split("/");
    const find = () => rows.findOne({ _id: appId, tenant_id: tenantId });
    const made = seal(randomBytes(32).toString("base64"), placeOf(appId));
    const row = { _id: appId, tenant_id: tenantId, app_id: appId, key: made };
    const kept = (await find()) ?? ((await insertNew(rows, row)) ? row : await find());
    if (kept === null) throw new Error(`the suppression key of ${appId} was removed as it was made`);
    const key = Buffer.from(openShared(open, kept.key, placeOf(appId), "the suppression list"), "base64");
    return (about) => createHmac("sha256", key).update(about).digest("base64url");
  };
  const known = cached({ load, clock, ...bounds });
  return ({ tenantId, appId }: OfApp): Promise<SubjectOf> => known.get(`${tenantId}/${appId}`);
};

const placeOf = (appId: string): string => `suppression_keys/${appId}`;
