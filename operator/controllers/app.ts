import { isTimeZone } from "#core/domain/time-zone.ts";
import type { KeyRing } from "#core/runtime/key-ring.ts";
import { type AppSpec, appResource } from "#core/schema/resources/app.ts";
import { type AppRow, type Apps, appCollection } from "#core/storage/apps.ts";
import type { PlanRow, Plans } from "#core/storage/plans.ts";
import type { TenantRow, Tenants } from "#core/storage/tenants.ts";
import { type Finding, refused } from "../engine/conditions.ts";
import type { Handler } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import type { Secrets } from "../kube/secrets.ts";
import { accountsOf, secretNamesOf } from "../policies/credentials.ts";
import { sealAccounts } from "../policies/seal-accounts.ts";
import {
  type Common,
  dropRow,
  firstFinding,
  idOf,
  isWritten,
  kept,
  keptFinding,
  managedBy,
  refusal,
  secretValues,
} from "./common.ts";

export type AppDeps = Common & {
  apps: Apps;
  tenants: Pick<Tenants, "holding">;
  plans: Pick<Plans, "find">;
  secrets: Pick<Secrets, "read">;
  ring: KeyRing;
  /** Removes the webhooks and live activity types of an app. */
  removeParts: (appId: string) => Promise<void>;
  /** Runs one creation at a time, so that two do not both find the last place of a plan. */
  oneByOne: <T>(create: () => Promise<T>) => Promise<T>;
};

type App = Resource<AppSpec>;

/** App: a document of the tenant that owns the namespace, with its credentials sealed. */
export const appHandler = (deps: AppDeps): Handler<App> => {
  const { apps, announce, clock } = deps;
  return {
    reconcile: async (app, signal) => {
      const input = await gather(deps, app);
      const { row, tenant } = input;
      const finding = firstFinding(policies, input);
      if (finding !== null || tenant === null) return refusal(finding ?? noTenant(app));
      const values = await secretValues(deps.secrets, app, secretNamesOf(app.spec), signal);
      const credentials = accountsOf(app.spec, values);
      if ("finding" in credentials) return refusal(credentials.finding);
      const { accounts, webPushPublicKey } = credentials;
      const id = idOf("app", app);
      const set = { ...appMembers(app, tenant), ...sealAccounts(deps.ring, id, accounts, row) };
      const wanted = { id, found: row, managed: managedBy(appResource, app), set, begin: { created_at: clock.now() } };
      const write = () => apps.keep(wanted, clock.now());
      const result = row === null ? await deps.oneByOne(() => createWithinPlan(deps, input, write)) : await write();
      if (typeof result === "object") return refusal(result);
      if (isWritten(result)) announce(appCollection.name, id);
      const conflict = keptFinding(result, "app");
      if (conflict !== null) return refusal(conflict);
      const channels = Object.keys(accounts).sort().join(",");
      return kept("app", result, { id, tenantId: tenant._id, channels, ...(webPushPublicKey && { webPushPublicKey }) });
    },
    remove: async (app) => {
      const id = idOf("app", app);
      if (app.spec.deletionPolicy === "Delete") await deps.removeParts(id);
      await dropRow({ rows: apps, collection: appCollection.name, announce, clock }, id, app);
      return null;
    },
  };
};

type Input = { app: App; row: AppRow | null; tenant: TenantRow | null; plan: PlanRow | null };

const gather = async ({ apps, tenants, plans }: AppDeps, app: App): Promise<Input> => {
  const [tenant = null] = await tenants.holding([app.metadata.namespace ?? ""]);
  const row = await apps.find(idOf("app", app));
  return { app, row, tenant, plan: tenant === null ? null : await plans.find(tenant.plan) };
};

const noTenant = ({ metadata }: App): Finding =>
  refused("TenantNotFound", `no tenant owns the namespace ${metadata.namespace ?? ""}`);

/** What an App must satisfy, besides its Secrets. */
const policies: ((input: Input) => Finding | null)[] = [
  ({ app, tenant }) => (tenant === null ? noTenant(app) : null),
  ({ row, tenant }) =>
    row === null || row.tenant_id === tenant?._id
      ? null
      : refused(
          "TenantChanged",
          "the namespace now belongs to another tenant; an app stays with the one it was made for",
        ),
  ({ app }) =>
    isTimeZone(app.spec.timeZone) ? null : refused("InvalidTimeZone", `${app.spec.timeZone} is not an IANA time zone`),
];

const createWithinPlan = async <T>({ apps }: AppDeps, { app, tenant, plan }: Input, write: () => Promise<T>) => {
  const others = await apps.countOthers(tenant?._id ?? "", idOf("app", app));
  const limit = plan?.apps ?? null;
  if (limit === null || others < limit) return write();
  return refused("PlanLimitReached", `the plan ${plan?._id ?? ""} has room for ${limit} apps`);
};

const appMembers = ({ metadata, spec }: App, tenant: TenantRow): Partial<AppRow> => ({
  tenant_id: tenant._id,
  name: spec.displayName ?? metadata.name,
  time_zone: spec.timeZone,
  idempotency_mismatch: spec.idempotencyMismatch,
});
