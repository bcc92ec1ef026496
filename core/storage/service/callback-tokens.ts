import { hash } from "node:crypto";
import type { Db } from "mongodb";
import { gather } from "../../runtime/batching/gather.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";

/** A signature of a provider that does not cover what it sends, and the request that came with it first, both hashed. */
export type CallbackTokenRow = { _id: string; tenant_id: string; app_id: string; body: string; expires_at: Date };

export const callbackTokenCollection: CollectionSpec = {
  name: "callback_tokens",
  indexes: [
    { key: { app_id: 1, _id: 1 }, name: "app" },
    { key: { expires_at: 1 }, name: "retention", expireAfterSeconds: 0 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "hashes, for hours: nothing of whom the callback was about" },
  retention: { index: "retention" },
};

/** What came with a signature, whichever app it was for first: it is good until `until`. */
export type CallbackToken = { of: OfApp; provider: string; signature: string; body: Buffer; until: Date };

const batched = { most: 200, inFlight: 4 };

/** Which callbacks came with which signature, while that is good. */
export const callbackTokens = (db: Db) => {
  const rows = collectionOf<CallbackTokenRow>(db, callbackTokenCollection);
  const remember = async (made: readonly CallbackTokenRow[]): Promise<boolean[]> => {
    const firsts = [...new Map(made.toReversed().map((row) => [row._id, row])).values()];
    const known = await insertMissing(rows, firsts);
    const kept = known.size === 0 ? [] : await rows.find({ _id: { $in: [...known] } }).toArray();
    const bodies = new Map([...firsts, ...kept].map(({ _id, body }) => [_id, body]));
    return made.map(({ _id, body }) => bodies.get(_id) === body);
  };
  const write = gather({ write: remember, ...batched });
  return {
    /** Whether it is the request that came with this signature first, or that one again. */
    isFirst: ({ of, provider, signature, body, until }: CallbackToken): Promise<boolean> =>
      write({
        _id: hash("sha256", `${provider} ${signature}`, "base64url"),
        tenant_id: of.tenantId,
        app_id: of.appId,
        body: hash("sha256", body, "base64url"),
        expires_at: until,
      }),
  };
};
