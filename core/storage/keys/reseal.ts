import type { Db, Filter } from "mongodb";
import { withSecrets } from "../../channels/accounts.ts";
import { ifOpenable, type KeyRing, type Sealed } from "../../runtime/process/key-ring.ts";
import { type AppRow, appCollection } from "../apps/apps.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { type SuppressionKeyRow, suppressionKeyCollection } from "../suppressions/keys.ts";
import { type WarehouseExportRow, warehouseExportCollection, warehouseSecretPlace } from "../warehouse/exports.ts";
import { type HashKeyRow, hashKeyCollection, hashKeyPlace } from "../warehouse/hash-keys.ts";
import { type WebhookRow, webhookCollection } from "../webhooks/webhooks.ts";

/** How many secrets of a collection a key seals, in how many documents. */
export type SealedCount = { collection: string; kid: string; secrets: number; documents: number };

export type ResealDeps = {
  db: Db;
  keyRing: Pick<KeyRing, "open" | "seal" | "isStale">;
  /** Asked before every write. @throws when this process may not write */
  check: () => void;
};

/**
 * Seals anew, under the key ring's first key, all that another of its keys sealed, and counts what each key seals then.
 * What cannot be opened stays as it is. Replies that are kept for repeats are left out: they go within a day.
 */
export const reseal = async (deps: ResealDeps, signal: AbortSignal): Promise<SealedCount[]> => [
  ...(await resealIn(deps, ofApps, signal)),
  ...(await resealIn(deps, ofWebhooks, signal)),
  ...(await resealIn(deps, ofSuppressions, signal)),
  ...(await resealIn(deps, ofWarehouse, signal)),
  ...(await resealIn(deps, ofHashes, signal)),
];

type Row = { _id: string };
/** Gives what takes a secret's place; `place` is the context that it is sealed for. */
type Replace = (sealed: Sealed, place: string) => Sealed;

type Place<R extends Row> = {
  spec: CollectionSpec;
  /** The members that hold secrets, each replaced. */
  members: (row: R, replace: Replace) => Partial<R>;
  /** Matches the row as long as nobody has written it since. */
  unchanged: (row: R) => object;
};

const ofApps: Place<AppRow> = {
  spec: appCollection,
  members: ({ _id, channels }, replace) => ({ channels: withSecrets(_id, channels, replace) }),
  unchanged: ({ updated_at, channels_revision }) => ({ updated_at, channels_revision }),
};

const ofWebhooks: Place<WebhookRow> = {
  spec: webhookCollection,
  members: ({ _id, secret, previous_secret: previous, headers }, replace) => ({
    secret: replace(secret, `webhooks/${_id}/secret`),
    previous_secret: previous && { ...previous, secret: replace(previous.secret, `webhooks/${_id}/secret`) },
    headers: headers.map(({ name, value }) => ({ name, value: replace(value, `webhooks/${_id}/headers/${name}`) })),
  }),
  unchanged: ({ updated_at, secret }) => ({ updated_at, "secret.data": secret.data }),
};

const ofSuppressions: Place<SuppressionKeyRow> = {
  spec: suppressionKeyCollection,
  members: ({ _id, key }, replace) => ({ key: replace(key, `suppression_keys/${_id}`) }),
  unchanged: ({ key }) => ({ "key.data": key.data }),
};

const ofWarehouse: Place<WarehouseExportRow> = {
  spec: warehouseExportCollection,
  members: ({ _id, secrets }, replace) => ({
    secrets: Object.fromEntries(
      Object.entries(secrets).map(([name, sealed]) => [name, replace(sealed, warehouseSecretPlace(_id, name))]),
    ),
  }),
  unchanged: ({ updated_at, secrets_updated_at }) => ({ updated_at, secrets_updated_at }),
};

const ofHashes: Place<HashKeyRow> = {
  spec: hashKeyCollection,
  members: ({ _id, key }, replace) => ({ key: replace(key, hashKeyPlace(_id)) }),
  unchanged: ({ key }) => ({ "key.data": key.data }),
};

const pageSize = 200;
const mostTries = 5; // of one row; what is left is sealed by the next pass

const resealIn = async <R extends Row>(
  deps: ResealDeps,
  place: Place<R>,
  signal: AbortSignal,
): Promise<SealedCount[]> => {
  const rows = collectionOf<R>(deps.db, place.spec);
  const counts = new Map<string, Pick<SealedCount, "secrets" | "documents">>();
  const add = (kids: readonly string[]): void => {
    for (const [kid, own] of Map.groupBy(kids, (one) => one)) {
      const { secrets, documents } = counts.get(kid) ?? { secrets: 0, documents: 0 };
      counts.set(kid, { secrets: secrets + own.length, documents: documents + 1 });
    }
  };
  const pageAfter = (id: string) => {
    const after = { _id: { $gt: id } } as Filter<R>; // sound: ids are texts
    return rows.find(after, { signal }).sort({ _id: 1 }).limit(pageSize).toArray() as Promise<R[]>; // sound: whole rows
  };
  for (let page = await pageAfter(""); page.length > 0; page = await pageAfter(page.at(-1)?._id ?? "")) {
    for (const row of page) add(await resealRow(deps, place, row));
    if (page.length < pageSize) break;
  }
  return [...counts].map(([kid, count]) => ({ collection: place.spec.name, kid, ...count }));
};

/** Gives the keys of the row's secrets as they are afterwards. One that somebody writes meanwhile is read and tried again. */
const resealRow = async <R extends Row>(deps: ResealDeps, place: Place<R>, found: R): Promise<string[]> => {
  const rows = collectionOf<R>(deps.db, place.spec);
  let row: R | null = found;
  let left: string[] = [];
  for (let tries = 0; row !== null && tries < mostTries; tries += 1) {
    const { before, after, members } = sealedAnew(deps.keyRing, place, row);
    if (before.every((kid, at) => kid === after[at])) return before;
    deps.check();
    const as = { _id: row._id, ...place.unchanged(row) } as Filter<R>; // sound: members of the row
    const { matchedCount } = await rows.updateOne(as, { $set: members });
    if (matchedCount === 1) return after;
    left = before;
    row = (await rows.findOne({ _id: row._id } as Filter<R>)) as R | null; // sound: whole rows
  }
  return row === null ? [] : left;
};

/** The row's members with its secrets under the first key, and the keys of the secrets before and after that. */
const sealedAnew = <R extends Row>(keyRing: ResealDeps["keyRing"], place: Place<R>, row: R) => {
  const before: string[] = [];
  const after: string[] = [];
  const members = place.members(row, (sealed, context) => {
    const anew = keyRing.isStale(sealed)
      ? ifOpenable(() => keyRing.seal(keyRing.open(sealed, context), context))
      : null;
    before.push(sealed.kid);
    after.push((anew ?? sealed).kid);
    return anew ?? sealed;
  });
  return { before, after, members };
};
