import { type TenantSpec, tenantResource } from "#core/schema/tenants/resource.ts";
import type { Apps } from "#core/storage/apps/apps.ts";
import type { Plans } from "#core/storage/plans/plans.ts";
import { type TenantRow, type Tenants, tenantCollection } from "#core/storage/tenants/tenants.ts";
import type { Handler, Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import type { Store } from "../kube/store.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { idOf, isClaiming } from "../policies/management.ts";
import { type Claimant, namespaceTaken, sharesOf } from "../policies/tenants/namespaces.ts";
import { type Common, kept, refusal } from "../records/platform.ts";
import { records } from "../records/record.ts";

export type TenantDeps = Common & {
  tenants: Tenants;
  plans: Pick<Plans, "find">;
  apps: Pick<Apps, "ofTenant">;
  /** Removes every API key of a tenant. */
  removeKeys: (tenantId: string) => Promise<void>;
  /** With the index `namespace`, too. */
  store: Pick<Store<Tenant>, "by">;
};

type Tenant = Resource<TenantSpec, { id?: string }>;

/** Tenant: a document with the namespaces that are really its own. None is made for one that asks for another's. */
export const tenantHandler = (deps: TenantDeps): Handler<Tenant> => {
  const { tenants, plans, apps, clock } = deps;
  const called = ({ name = "" }: Partial<TenantRow>): Promise<TenantRow | null> => tenants.called(name);
  const kind = { definition: tenantResource, rows: tenants, collection: tenantCollection.name, what: "tenant", called };
  const record = records({ ...deps, ...kind });
  return {
    reconcile: async (tenant) => {
      const stand = await record.look(tenant);
      if (stand.kind !== "write") {
        return record.tell(tenant, stand, {
          describe: ({ namespaces }) => ({ status: { namespaces }, members: tenantMembers(tenant) }),
        });
      }
      const { plan } = tenant.spec;
      if ((await plans.find(plan)) === null) return refusal(refused("PlanNotFound", `no plan ${plan}`));
      const { granted, lost } = await shares(deps, tenant);
      const taken = namespaceTaken(lost);
      if (taken !== null && stand.row === null) return askedAgain(refusal(taken));
      const set = { ...tenantMembers(tenant), namespaces: granted };
      const wanted = { set, begin: { created_at: clock.now() }, names: [set.name] };
      const result = await record.keep(tenant, stand, wanted);
      if ("verdict" in result) return result.verdict;
      const verdict = kept(tenant, "tenant", { ...result, id: idOf(tenantResource, tenant), namespaces: granted });
      return taken === null ? verdict : askedAgain({ ...verdict, ready: taken });
    },
    remove: (tenant) =>
      record.drop(tenant, {
        before: async (id) => {
          const finding = inUse((await apps.ofTenant(id, 5)).map(({ name }) => name));
          if (finding === null) await deps.removeKeys(id);
          return finding;
        },
        after: (id) => removeLate(deps, id),
      }),
  };
};

/** Nobody tells of a record that lets go of a namespace. */
const askedAgain = (verdict: Verdict): Verdict => ({ ...verdict, requeueAfterMs: 5_000 });

const inUse = (names: readonly string[]): Finding | null =>
  names.length === 0 ? null : refused("InUse", `the tenant has apps: ${names.join(", ")}`);

/** What was being made while the tenant went: {@link requireHolder} may not have seen that it is gone. */
const removeLate = async ({ apps, removeKeys }: TenantDeps, id: string): Promise<void> => {
  await removeKeys(id);
  if ((await apps.ofTenant(id, 1)).length > 0) throw new Error(`tenants ${id}: an app was made while it was removed`);
};

/** Who claims the tenant's namespaces, in Kubernetes and in the documents. */
const shares = async ({ tenants, store }: TenantDeps, tenant: Tenant): Promise<ReturnType<typeof sharesOf>> => {
  const rows = await tenants.holding(tenant.spec.namespaces);
  const claims = tenant.spec.namespaces.flatMap((namespace) => store.by("namespace", namespace));
  const rivals = new Map(claims.filter(isClaiming).map(byUid));
  rivals.delete(tenant.metadata.uid);
  const ids = new Set([tenant, ...rivals.values()].map((one) => idOf(tenantResource, one)));
  const claimant = (one: Tenant): Claimant => ({
    name: one.metadata.name,
    createdAt: one.metadata.creationTimestamp ?? "",
    claims: one.spec.namespaces,
    holds: rows.find(({ _id }) => _id === idOf(tenantResource, one))?.namespaces ?? [],
  });
  const isKept = ({ _id, managed }: TenantRow): boolean =>
    !ids.has(_id) && (managed === null || store.by("external", _id).length === 0);
  return sharesOf(claimant(tenant), [...[...rivals.values()].map(claimant), ...rows.filter(isKept).map(asHolder)]);
};

/** A tenant that no resource can be asked to give a namespace up. */
const asHolder = ({ _id, name, namespaces }: TenantRow): Claimant => ({
  name: `${name} (${_id}), which is no resource's`,
  createdAt: "",
  claims: namespaces,
  holds: namespaces,
});

const byUid = (tenant: Tenant): [string, Tenant] => [tenant.metadata.uid, tenant];

const tenantMembers = ({ metadata, spec }: Tenant): Partial<TenantRow> & { name: string } => ({
  name: spec.displayName ?? metadata.name,
  plan: spec.plan,
  suspended: spec.suspended,
  suspended_reason: spec.suspendedReason ?? null,
  contact_email: spec.contact?.email ?? null,
});
