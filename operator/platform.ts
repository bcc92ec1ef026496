import type { Db } from "mongodb";
import { type AppRow, appCollection, apps } from "#core/storage/apps/apps.ts";
import { type CollectionSpec, collectionOf } from "#core/storage/mongo/collection.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { type Fence, type ManagedRow, type ManagedRows, managedRows } from "#core/storage/settings/managed.ts";
import { type TenantRow, tenantCollection, tenants } from "#core/storage/tenants/tenants.ts";
import { allKinds } from "./kinds/all.ts";
import { cascade } from "./records/cascade.ts";
import type { Base, Owners, Platform } from "./records/platform.ts";

/** What kinds may use, on the real stores. */
export const makePlatform = (given: Omit<Base, "owners">): Platform => {
  const platform = { ...given, owners: owners(given.db, given.fence) };
  return { ...platform, cascade: cascade(platform, allKinds) };
};

const owners = (db: Db, fence: Fence): Owners => {
  const managed = <Row extends ManagedRow>(spec: CollectionSpec): ManagedRows<Row> =>
    managedRows(collectionOf<Row>(db, spec), fence);
  return {
    plans: managed<PlanRow>(planCollection),
    tenants: { ...tenants(db), ...managed<TenantRow>(tenantCollection) },
    apps: { ...apps(db), ...managed<AppRow>(appCollection) },
  };
};
