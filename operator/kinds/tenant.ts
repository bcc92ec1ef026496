import { appResource } from "#core/channels/app-resource.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { planResource } from "#core/schema/plans/resource.ts";
import { type TenantSpec, type TenantStatus, tenantResource } from "#core/schema/tenants/resource.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { type TenantRow, tenantCollection } from "#core/storage/tenants/tenants.ts";
import { type Handler, refusal } from "../engine/handler.ts";
import { link, namespaceOf } from "../engine/links.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { idOf, isClaiming, nameOf as managerName } from "../policies/management.ts";
import { type Claimant, namespaceNotWatched, namespaceTaken, sharesOf } from "../policies/tenants/namespaces.ts";
import { usageStatus } from "../policies/tenants/usage.ts";
import { defineKind, type Tools } from "../records/kind.ts";

type Tenant = Resource<TenantSpec, TenantStatus>;
type Deps = Tools<Tenant, TenantRow>;

/** Tenant: a document with the namespaces that it owns. None is made for a Tenant that asks for another's namespace. */
export const tenant = defineKind<Tenant, TenantRow>({
  definition: tenantResource,
  what: "tenant",
  collection: tenantCollection,
  rows: ({ owners }) => owners.tenants,
  called: ({ owners }, { name = "" }) => owners.tenants.called(name),
  indexes: {
    name: (resource) => [nameOf(resource)],
    plan: ({ spec }) => [spec.plan],
    namespace: ({ spec }) => spec.namespaces,
  },
  links: [
    link(planResource, "plan", (plan) => [idOf(planResource, plan)]),
    link(tenantResource, "namespace", ({ spec }) => spec.namespaces),
    link(appResource, "namespace", namespaceOf, "deleted"),
  ],
  handler: (deps) => handler(deps),
});

const handler = (deps: Deps): Handler<Tenant> => {
  const { record, owners, clock } = deps;
  return {
    reconcile: async (resource, signal) => {
      const members = membersOf(resource);
      const stand = await record.look(resource);
      if (stand.kind !== "write") {
        const describe = (row: TenantRow) => ({ status: statusOf(deps, resource, row.namespaces), members });
        return record.report(resource, stand, describe, signal);
      }
      const { plan } = resource.spec;
      if ((await owners.plans.find(plan)) === null) return refusal(refused("PlanNotFound", `no plan ${plan}`));
      const { granted, lost } = await shares(deps, resource);
      const taken = namespaceTaken(lost);
      if (taken !== null && stand.row === null) return refusal(taken, retryMs);
      const finding = taken ?? namespaceNotWatched(granted.filter((namespace) => !deps.isWatched(namespace)));
      const set = { ...members, namespaces: granted };
      const wanted = { set, begin: { created_at: clock.now() }, names: [set.name] };
      const result = await record.keep(resource, stand, wanted);
      if ("verdict" in result) return result.verdict;
      const verdict = record.kept(resource, result, statusOf(deps, resource, granted));
      if (finding === null) return verdict;
      return { ...verdict, ready: finding, ...(taken !== null && { requeueAfterMs: retryMs }) };
    },
    remove: (resource, signal) =>
      record.drop(resource, { before: (id) => empty(deps, id, signal), after: (id) => removeLate(deps, id) }, signal),
  };
};

const statusOf = ({ usage, record, clock }: Deps, resource: Tenant, namespaces: string[]): Partial<TenantStatus> => {
  const figures = usageStatus(usage.of(record.idOf(resource)), resource.status?.usage, clock.now());
  return { namespaces, ...(figures && { usage: figures }) };
};

const retryMs = 5_000; // no event says that a record released a namespace

/** Removes what goes with a tenant; a tenant that has apps stays. */
const empty = async (deps: Deps, id: string, signal: AbortSignal): Promise<Finding | null> => {
  const apps = await deps.owners.apps.ofTenant(id, appsAtOnce);
  const left: string[] = [];
  for (const app of apps) {
    const keeper = (await keeperOf(deps, app, signal)) ?? (await follow(deps, app));
    if (keeper !== null) left.push(`${app.name} (${keeper})`);
  }
  if (left.length > 0) return refused("InUse", `the tenant has apps: ${left.slice(0, 5).join(", ")}`);
  if (apps.length === appsAtOnce) return refused("InUse", "the tenant has more apps without an App; they are removed");
  await deps.cascade.ofTenant(id);
  return null;
};

const appsAtOnce = 20; // a pass is bounded; the next one follows in 2 s

/** What keeps an app; null for one whose App was deleted while the operator could not see it, e.g. before a restore. */
const keeperOf = async ({ presence }: Deps, { managed }: AppRow, signal: AbortSignal): Promise<string | null> => {
  if (managed === null) return nobodys;
  const { namespace, name } = managed;
  const found = await presence(appResource, { name, ...(namespace !== null && { namespace }) }, signal);
  if (found === "gone") return null;
  return managerName(managed) + (found === "unseen" ? ", whose namespace is not watched" : "");
};

const nobodys = "no resource's";

/** Does with the app of an App that is gone as that said: removes it, or leaves it as nobody's. Gives what keeps it then. */
const follow = async ({ owners, cascade, announce, clock }: Deps, { _id, managed }: AppRow): Promise<string | null> => {
  if (managed === null) return nobodys;
  const isRetained = managed.deletion === "Retain";
  if (!isRetained) await cascade.ofApp(_id);
  const isDone = await (isRetained
    ? owners.apps.release(_id, managed.uid, clock.now())
    : owners.apps.remove(_id, managed.uid));
  if (isDone) announce(appCollection.name, _id);
  return isRetained ? nobodys : null;
};

/** Removes what was made while the tenant was removed: `requireTenant` may not have seen that it is gone. */
const removeLate = async ({ owners, cascade }: Deps, id: string): Promise<void> => {
  await cascade.ofTenant(id);
  const isLate = (await owners.apps.ofTenant(id, 1)).length > 0;
  if (isLate) throw new Error(`tenants ${id}: an app was made while it was removed`);
};

/** Which of its namespaces the tenant gets; others may claim them in Kubernetes, or own them in the documents. */
const shares = async ({ owners, store }: Deps, resource: Tenant): Promise<ReturnType<typeof sharesOf>> => {
  const rows = await owners.tenants.withNamespaces(resource.spec.namespaces);
  const claims = resource.spec.namespaces.flatMap((namespace) => store.by("namespace", namespace));
  const rivals = new Map(claims.filter(isClaiming).map((one) => [one.metadata.uid, one]));
  rivals.delete(resource.metadata.uid);
  const ids = new Set([resource, ...rivals.values()].map((one) => idOf(tenantResource, one)));
  const claimant = (one: Tenant): Claimant => ({
    name: one.metadata.name,
    createdAt: one.metadata.creationTimestamp ?? "",
    claims: one.spec.namespaces,
    owns: rows.find(({ _id }) => _id === idOf(tenantResource, one))?.namespaces ?? [],
  });
  const isKept = ({ _id, managed }: TenantRow): boolean =>
    !ids.has(_id) && (managed === null || store.by("external", _id).length === 0);
  return sharesOf(claimant(resource), [...[...rivals.values()].map(claimant), ...rows.filter(isKept).map(asOwner)]);
};

/** A tenant without a resource: nobody can be asked to give its namespaces up. */
const asOwner = ({ _id, name, namespaces }: TenantRow): Claimant => ({
  name: `${name} (${_id}), which is no resource's`,
  createdAt: "",
  claims: namespaces,
  owns: namespaces,
});

const nameOf = ({ metadata, spec }: Tenant): string => spec.displayName ?? metadata.name;

const membersOf = (resource: Tenant) => ({
  name: nameOf(resource),
  plan: resource.spec.plan,
  suspended: resource.spec.suspended,
  suspended_reason: resource.spec.suspendedReason ?? null,
  contact_email: resource.spec.contact?.email ?? null,
});
