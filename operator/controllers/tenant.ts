import { type TenantSpec, tenantResource } from "#core/schema/resources/tenant.ts";
import type { Apps } from "#core/storage/apps.ts";
import type { Plans } from "#core/storage/plans.ts";
import { type TenantRow, type Tenants, tenantCollection } from "#core/storage/tenants.ts";
import { refused, waiting } from "../engine/conditions.ts";
import type { Handler, Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import type { Store } from "../kube/store.ts";
import { type Claimant, namespaceTaken, sharesOf } from "../policies/namespaces.ts";
import { type Common, dropRow, idOf, isWritten, kept, keptFinding, managedBy, refusal } from "./common.ts";

export type TenantDeps = Common & {
  tenants: Tenants;
  plans: Pick<Plans, "find">;
  apps: Pick<Apps, "ofTenant">;
  /** Removes every API key of a tenant. */
  removeKeys: (tenantId: string) => Promise<void>;
  /** With the index `namespace`. */
  store: Pick<Store<Tenant>, "by">;
};

type Tenant = Resource<TenantSpec>;

/** Tenant: a document with the namespaces that are really its own. */
export const tenantHandler = (deps: TenantDeps): Handler<Tenant> => {
  const { tenants, plans, apps, announce, clock } = deps;
  return {
    reconcile: async (tenant) => {
      const { spec } = tenant;
      if ((await plans.find(spec.plan)) === null) return refusal(refused("PlanNotFound", `no plan ${spec.plan}`));
      const { granted, lost } = await shares(deps, tenant);
      const id = idOf("tenant", tenant);
      const set = tenantMembers(tenant, granted);
      const found = await tenants.find(id);
      const managed = managedBy(tenantResource, tenant);
      const wanted = { id, found, managed, set, begin: { created_at: clock.now() } };
      const result = await tenants.keep(wanted, clock.now());
      if (isWritten(result)) announce(tenantCollection.name, id);
      if (result === "taken") return nameOrRace(tenants, id, set);
      const finding = keptFinding(result, "tenant");
      if (finding !== null) return refusal(finding);
      const verdict = kept("tenant", result, { id, namespaces: granted });
      return { ...verdict, ready: namespaceTaken(lost) ?? verdict.ready };
    },
    remove: async (tenant) => {
      const id = idOf("tenant", tenant);
      if (tenant.spec.deletionPolicy === "Delete") {
        const left = await apps.ofTenant(id, 5);
        if (left.length > 0) return refused("InUse", `the tenant has apps: ${left.map(({ name }) => name).join(", ")}`);
        await deps.removeKeys(id);
      }
      await dropRow({ rows: tenants, collection: tenantCollection.name, announce, clock }, id, tenant);
      return null;
    },
  };
};

/** Who claims the tenant's namespaces, in Kubernetes and in the documents. */
const shares = async ({ tenants, store }: TenantDeps, tenant: Tenant): Promise<ReturnType<typeof sharesOf>> => {
  const rows = await tenants.holding(tenant.spec.namespaces);
  const rivals = new Map(tenant.spec.namespaces.flatMap((namespace) => store.by("namespace", namespace)).map(byUid));
  rivals.delete(tenant.metadata.uid);
  const claimant = ({ metadata, spec }: Tenant): Claimant => ({
    name: metadata.name,
    createdAt: metadata.creationTimestamp ?? "",
    claims: spec.namespaces,
    holds: rows.find(({ managed }) => managed?.uid === metadata.uid)?.namespaces ?? [],
  });
  const unmanaged = rows
    .filter(({ managed }) => managed === null)
    .map(({ name, namespaces }): Claimant => ({ name, createdAt: "", claims: namespaces, holds: namespaces }));
  return sharesOf(claimant(tenant), [...[...rivals.values()].map(claimant), ...unmanaged]);
};

const byUid = (tenant: Tenant): [string, Tenant] => [tenant.metadata.uid, tenant];

const nameOf = ({ metadata, spec }: Tenant): string => spec.displayName ?? metadata.name;

const tenantMembers = (tenant: Tenant, namespaces: string[]): Partial<TenantRow> & { name: string } => ({
  name: nameOf(tenant),
  plan: tenant.spec.plan,
  namespaces,
  suspended: tenant.spec.suspended,
  suspended_reason: tenant.spec.suspendedReason ?? null,
  contact_email: tenant.spec.contact?.email ?? null,
});

/** Either the name is another's, or the former owner of a namespace has not let go of it yet. */
const nameOrRace = async (tenants: Tenants, id: string, { name }: { name: string }): Promise<Verdict> => {
  if ((await tenants.called(name)) !== null) return refusal(refused("NameTaken", `another tenant is called ${name}`));
  const finding = waiting("NamespaceBusy", "a namespace is about to be let go of by another tenant");
  return { ...refusal(finding), requeueAfterMs: 1_000 };
};
