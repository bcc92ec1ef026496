import type { Db } from "mongodb";
import type { Clock } from "../../domain/clock.ts";
import { type CollectionSpec, collectionOf, farAhead } from "../mongo/collection.ts";
import { cached } from "../settings/cached.ts";

/** A certificate that a provider signs its callbacks with; `_id` is the address that it has at the provider. */
export type ProviderCertificateRow = { _id: string; pem: string; fetched_at: Date };

const keptDays = 30;

export const providerCertificateCollection: CollectionSpec = {
  name: "provider_certificates",
  indexes: [{ key: { fetched_at: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 }],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

const mostKept = 100; // a provider has a handful: one for each region, and a newer one each year

/** Certificates that dispatchers fetched, for the apiservers, which have no way out. */
export const providerCertificates = (db: Db) => {
  const rows = collectionOf<ProviderCertificateRow>(db, providerCertificateCollection);
  return {
    keep: async (url: string, pem: string, now: Date): Promise<void> => {
      await rows.updateOne({ _id: url }, { $set: { pem, fetched_at: now } }, { upsert: true });
    },

    /** By their address: the newest. */
    all: async (): Promise<Map<string, string>> => {
      const found = await rows
        .find({ fetched_at: { $lt: farAhead } })
        .sort({ fetched_at: -1 })
        .limit(mostKept)
        .toArray();
      return new Map(found.map(({ _id, pem }) => [_id, pem]));
    },
  };
};

/**
 * Gives the certificate (PEM) at an address of a provider's, once a dispatcher has fetched it; else null. However many are
 * asked for that nobody has, it reads once a second.
 */
export const fetchedCertificates = ({ all, clock }: { all: () => Promise<Map<string, string>>; clock: Clock }) => {
  const latest = cached({ load: all, ttlMs: 1_000, max: 1, clock });
  let known: ReadonlyMap<string, string> = new Map();
  return async (url: string): Promise<string | null> => {
    if (!known.has(url)) known = await latest.get("");
    return known.get(url) ?? null;
  };
};
