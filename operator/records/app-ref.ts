import { type AppSpec, appResource } from "#core/schema/apps/resource.ts";
import type { AppRow, Apps } from "#core/storage/apps/apps.ts";
import type { Tenants } from "#core/storage/tenants/tenants.ts";
import { keyFrom, type Resource } from "../kube/objects.ts";
import type { Store } from "../kube/store.ts";
import { type Finding, refused, waiting } from "../policies/conditions.ts";
import { idOf } from "../policies/management.ts";
import type { Place } from "./record.ts";

export type AppRefDeps = {
  apps: Pick<Apps, "find">;
  tenants: Pick<Tenants, "find">;
  appStore: Pick<Store<App>, "get">;
};

type App = Resource<AppSpec, { id?: string }>;

/** `gone`: there is no such App at all. */
export type AppRef = { kind: "found"; row: AppRow } | { kind: "gone" | "waiting"; finding: Finding };

/** The app that a resource names, in its own namespace. */
export const appOf = async (deps: AppRefDeps, resource: Resource, name: string): Promise<AppRef> => {
  const app = deps.appStore.get(keyFrom(resource.metadata.namespace, name));
  if (app === undefined || app.metadata.deletionTimestamp !== undefined) {
    return { kind: "gone", finding: refused("AppNotFound", `no App ${name} in this namespace`) };
  }
  const row = await deps.apps.find(idOf(appResource, app));
  if (row !== null && (await standsFor(deps, app, row))) return { kind: "found", row };
  return notReady(name);
};

const notReady = (name: string): AppRef => ({
  kind: "waiting",
  finding: waiting("AppNotReady", `App ${name} is not there yet; its conditions say why`),
});

/** The same for what is a tenant's: the namespace may have gone to another while the app was looked at. */
export const appOfTenant = async (deps: AppRefDeps, resource: Resource, name: string, tenantId: string) => {
  const ref = await appOf(deps, resource, name);
  return ref.kind === "found" && ref.row.tenant_id !== tenantId ? notReady(name) : ref;
};

/** Whether the namespace is the tenant's whose app it is, and the App has it or only looks at it: a name alone opens nothing. */
const standsFor = async ({ tenants }: AppRefDeps, { metadata, spec }: App, row: AppRow): Promise<boolean> => {
  if (row.managed?.uid !== metadata.uid && spec.managementPolicy !== "Observe") return false;
  const tenant = await tenants.find(row.tenant_id);
  return tenant?.namespaces.includes(metadata.namespace ?? "") ?? false;
};

/** Whether the app itself is gone that a record is part of; an App that was only let go of leaves it behind. */
export const appIsGone =
  ({ apps }: AppRefDeps) =>
  async (row: { app_id: string }): Promise<boolean> =>
    (await apps.find(row.app_id)) === null;

/** A resource that is of an app reaches the app's records only, and those beside it of the same app are its peers. */
export const besideInApp = <R extends Resource<{ appRef: string }>>(
  { metadata, spec }: R,
  app: AppRow,
): Place<R, { app_id: string }> => ({
  owner: "app",
  belongs: (row) => row.app_id === app._id,
  isPeer: (other) => other.metadata.namespace === metadata.namespace && other.spec.appRef === spec.appRef,
});
