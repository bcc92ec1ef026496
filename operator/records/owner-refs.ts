import { type AppSpec, appResource } from "#core/channels/app-resource.ts";
import { keyOf, type Resource } from "#core/runtime/kube/objects.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import { refusal, type Verdict } from "../engine/handler.ts";
import { beside, link } from "../engine/links.ts";
import { type Finding, refused, waiting } from "../policies/conditions.ts";
import { idOf } from "../policies/management.ts";
import type { Platform } from "./platform.ts";
import type { Place } from "./record-deps.ts";

export type AppRefDeps = Pick<Platform, "owners" | "stores">;

type App = Resource<AppSpec, { id?: string }>;

/** `gone`: there is no such App at all. */
export type AppRef = { kind: "found"; row: AppRow } | { kind: "gone" | "waiting"; finding: Finding };

/** The link of kinds that name Apps: an App requeues the resources that have its key in their index `app`. */
export const appLink = link(appResource, "app", (app) => [keyOf(app)]);

/** The app that a resource names, in its own namespace. */
export const appOf = async (deps: AppRefDeps, resource: Resource, name: string): Promise<AppRef> => {
  const app = deps.stores.of(appResource).get(beside(resource, name));
  if (app === undefined || app.metadata.deletionTimestamp !== undefined) {
    return { kind: "gone", finding: refused("AppNotFound", `no App ${name} in this namespace`) };
  }
  const row = await deps.owners.apps.find(idOf(appResource, app));
  if (row !== null && (await standsFor(deps, app, row))) return { kind: "found", row };
  return notReady(name);
};

const notReady = (name: string): AppRef => ({
  kind: "waiting",
  finding: waiting("AppNotReady", `App ${name} is not there yet; its conditions say why`),
});

/** The same for a tenant's resource: the namespace may have got another tenant while the app was read. */
export const appOfTenant = async (deps: AppRefDeps, resource: Resource, name: string, tenantId: string) => {
  const ref = await appOf(deps, resource, name);
  return ref.kind === "found" && ref.row.tenant_id !== tenantId ? notReady(name) : ref;
};

/**
 * Whether the App manages or observes the app, and the namespace is its tenant's. That an App names an app is not
 * enough.
 */
const standsFor = async ({ owners }: AppRefDeps, { metadata, spec }: App, row: AppRow): Promise<boolean> => {
  if (row.managed?.uid !== metadata.uid && spec.managementPolicy !== "Observe") return false;
  const tenant = await owners.tenants.find(row.tenant_id);
  return tenant?.namespaces.includes(metadata.namespace ?? "") ?? false;
};

/** Whether the app that a record is part of is gone. After an App with deletionPolicy Retain was deleted it is not. */
export const appIsGone =
  ({ owners }: Pick<Platform, "owners">) =>
  async (row: { app_id: string }): Promise<boolean> =>
    (await owners.apps.find(row.app_id)) === null;

/** What is done with the app that a resource names, when it is there; else what stands in the way. A record of an app that is gone goes. */
export const withApp = async <R extends Resource<{ appRef: string }>>(
  deps: AppRefDeps & {
    record: { dropWith: (resource: R, isOrphan: ReturnType<typeof appIsGone>) => Promise<boolean> };
  },
  resource: R,
  reconcile: (app: AppRow) => Promise<Verdict>,
): Promise<Verdict> => {
  const app = await appOf(deps, resource, resource.spec.appRef);
  if (app.kind === "gone") await deps.record.dropWith(resource, appIsGone(deps));
  return app.kind === "found" ? reconcile(app.row) : refusal(app.finding);
};

/** A resource that is of an app reaches the app's records only, and those beside it of the same app are its peers. */
export const inApp = <R extends Resource<{ appRef: string }>>(
  { metadata, spec }: R,
  app: AppRow,
): Place<R, { app_id: string }> => ({
  isReachable: (row) => row.app_id === app._id,
  isPeer: (other) => other.metadata.namespace === metadata.namespace && other.spec.appRef === spec.appRef,
});

/** The tenant that owns a resource's namespace. */
export const tenantOf = async (
  { owners }: Pick<Platform, "owners">,
  { metadata: { namespace = "" } }: Resource,
): Promise<TenantRow | undefined> => (await owners.tenants.withNamespaces([namespace]))[0];

export const noTenant = ({ metadata }: Resource): Finding =>
  refused("TenantNotFound", `no tenant owns the namespace ${metadata.namespace ?? ""}`);

/**
 * A resource in a tenant's namespace reaches the tenant's records only, and those in the tenant's namespaces are its
 * peers.
 */
export const inTenant = <R extends Resource>({ _id, namespaces }: TenantRow): Place<R, { tenant_id: string }> => ({
  isReachable: (row) => row.tenant_id === _id,
  isPeer: ({ metadata }) => namespaces.includes(metadata.namespace ?? ""),
});

/** The same as `inTenant` and `inApp`, for a resource that goes: with no owner it reaches nothing. */
export const ofTenant = async <R extends Resource>(deps: Pick<Platform, "owners">, resource: R) => {
  const tenant = await tenantOf(deps, resource);
  return tenant === undefined ? nowhere : inTenant<R>(tenant);
};
export const ofApp = async <R extends Resource<{ appRef: string }>>(deps: AppRefDeps, resource: R) => {
  const app = await appOf(deps, resource, resource.spec.appRef);
  return app.kind === "found" ? inApp(resource, app.row) : nowhere;
};

const nowhere = { isReachable: () => false };
