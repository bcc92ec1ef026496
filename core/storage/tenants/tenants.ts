import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { loader } from "../mongo/loader.ts";
import type { Managed, ManagedRows } from "../settings/managed.ts";

/** An organisation. `namespaces` are the Kubernetes namespaces that are its own (unique over all tenants). */
export type TenantRow = {
  _id: string;
  name: string;
  plan: string;
  namespaces: string[];
  suspended: boolean;
  suspended_reason: string | null;
  /** Where mails to the owner go. */
  contact_email: string | null;
  managed: Managed | null;
  created_at: Date;
  updated_at: Date;
};

export const tenantCollection: CollectionSpec = {
  name: "tenants",
  indexes: [
    { key: { name: 1 }, name: "name", unique: true },
    // partial: tenants without a namespace do not collide
    { key: { namespaces: 1 }, name: "namespace", unique: true, partialFilterExpression: { namespaces: { $gt: "" } } },
    { key: { plan: 1 }, name: "plan" },
    { key: { suspended: 1 }, name: "suspended", partialFilterExpression: { suspended: true } },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names the owner, who is no app's user" },
  retention: { kept: "until its resource goes" },
};

export type Tenants = ManagedRows<TenantRow> & ReturnType<typeof tenants>;

export const tenants = (db: Db) => {
  const rows = collectionOf<TenantRow>(db, tenantCollection);
  const owner = loader(async (namespaces) => {
    const found = await rows.find({ namespaces: { $in: [...namespaces], $gt: "" } }).toArray();
    return new Map(found.flatMap((row) => row.namespaces.map((namespace) => [namespace, row])));
  });
  return {
    /** The tenants that have one of these namespaces; each has one owner at most. */
    withNamespaces: async (namespaces: readonly string[]): Promise<TenantRow[]> => {
      const owners = await Promise.all(namespaces.map(owner)); // a resource names at most 100
      const found = owners.filter((row) => row !== null);
      return [...new Map(found.map((row) => [row._id, row])).values()]; // one may have several of them
    },
    /** The tenant that has a name; at most one. */
    called: (name: string): Promise<TenantRow | null> => rows.findOne({ name }),
    /** Ids of the tenants that have a name, or whose resource has it; at most three. */
    namedBy: async (name: string): Promise<string[]> => {
      const own = await rows.find({ name }, { hint: "name" }).limit(1).toArray();
      const managed = { "managed.uid": { $gt: "" }, "managed.name": name };
      const byResource = await rows.find(managed, { hint: "managed" }).limit(2).toArray();
      return [...new Set([...own, ...byResource].map(({ _id }) => _id))];
    },
    /** Whether there is a tenant at all. */
    hasAny: async (): Promise<boolean> => (await rows.findOne({}, { projection: { _id: 1 } })) !== null,
    /** Some names of the tenants on a plan, at most `limit`. */
    namesOnPlan: async (plan: string, limit: number): Promise<string[]> =>
      (await rows.find({ plan }, { hint: "plan" }).limit(limit).toArray()).map(({ name }) => name),
  };
};
