import type { CollectionSpec } from "./collection.ts";
import type { Managed } from "./plans.ts";

/** An organisation. `namespaces` are the Kubernetes namespaces that are its own (unique over all tenants). */
export type TenantRow = {
  _id: string;
  name: string;
  plan: string;
  namespaces: string[];
  suspended: boolean;
  suspended_reason: string | null;
  managed: Managed | null;
  created_at: Date;
  updated_at: Date;
};

export const tenantCollection: CollectionSpec = {
  name: "tenants",
  indexes: [
    { key: { name: 1 }, name: "name", unique: true },
    { key: { namespaces: 1 }, name: "namespace", unique: true },
    { key: { plan: 1 }, name: "plan" },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
};
