import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "./collection.ts";
import type { Managed, ManagedRows } from "./managed.ts";

/** An organisation. `namespaces` are the Kubernetes namespaces that are its own (unique over all tenants). */
export type TenantRow = {
  _id: string;
  name: string;
  plan: string;
  namespaces: string[];
  suspended: boolean;
  suspended_reason: string | null;
  /** Where the owner is told of what needs a person. */
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
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
};

export type Tenants = ManagedRows<TenantRow> & ReturnType<typeof tenants>;

export const tenants = (db: Db) => {
  const rows = collectionOf<TenantRow>(db, tenantCollection);
  return {
    /** The tenants that have one of these namespaces; each has one owner at most. */
    holding: (namespaces: readonly string[]): Promise<TenantRow[]> =>
      rows.find({ namespaces: { $in: [...namespaces], $gt: "" } }).toArray(),
    /** The tenant that has a name; at most one. */
    called: (name: string): Promise<TenantRow | null> => rows.findOne({ name }),
    /** Some names of the tenants on a plan, at most `limit`. */
    namesOnPlan: async (plan: string, limit: number): Promise<string[]> =>
      (await rows.find({ plan }).limit(limit).toArray()).map(({ name }) => name),
  };
};
