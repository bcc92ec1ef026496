import { isTimeZone } from "#core/domain/time-zone.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { type AppSpec, appResource } from "#core/schema/apps/resource.ts";
import { type AppRow, type Apps, appCollection } from "#core/storage/apps/apps.ts";
import type { OneWriter } from "#core/storage/mongo/duplicate.ts";
import type { Plans } from "#core/storage/plans/plans.ts";
import type { TenantRow, Tenants } from "#core/storage/tenants/tenants.ts";
import type { Handler, Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import type { Secrets } from "../kube/secrets.ts";
import type { Store } from "../kube/store.ts";
import { accountsOf, secretNamesOf } from "../policies/apps/credentials.ts";
import { sealAccounts } from "../policies/apps/seal-accounts.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { idOf } from "../policies/management.ts";
import { type Common, kept, noRoomYet, noTenant, refusal, secretValues } from "../records/platform.ts";
import { type MayWrite, type Place, type Records, records } from "../records/record.ts";
import { requireHolder } from "../records/tenant-ref.ts";

export type AppDeps = Common & {
  apps: Apps;
  tenants: Pick<Tenants, "holding">;
  plans: Pick<Plans, "find">;
  secrets: Pick<Secrets, "read">;
  ring: KeyRing;
  /** With the index `name`: {@link appNameOf}. */
  store: Pick<Store<App>, "by">;
  /** Removes the webhooks and live activity types of an app. */
  removeParts: (appId: string) => Promise<void>;
  /** Makes those of one tenant one after another, so that two do not both find the last place of its plan. */
  oneByOne: OneWriter;
};

type App = Resource<AppSpec, { id?: string }>;

/** App: a document of the tenant that owns the namespace, with its credentials sealed. */
export const appHandler = (deps: AppDeps): Handler<App> => {
  const { apps, tenants } = deps;
  const record = records({
    ...deps,
    definition: appResource,
    rows: apps,
    collection: appCollection.name,
    what: "app",
    called: ({ tenant_id = "", name = "" }) => apps.called(tenant_id, name),
  });
  return {
    reconcile: async (app, signal) => {
      const [tenant] = await tenants.holding([app.metadata.namespace ?? ""]);
      if (tenant === undefined) return refusal(noTenant(app));
      const stand = await record.look(app, ofTenant(tenant));
      if (stand.kind === "write") return apply(deps, record, { app, tenant, stand }, signal);
      return record.tell(app, stand, {
        describe: (row) => ({ status: statusOf(row), members: appMembers(app, tenant) }),
      });
    },
    remove: (app) =>
      record.drop(app, {
        before: async (id) => {
          await deps.removeParts(id);
          return null;
        },
      }),
  };
};

const ofTenant = ({ _id, namespaces }: TenantRow): Place<App, AppRow> => ({
  belongs: (row) => row.tenant_id === _id,
  isPeer: ({ metadata }) => namespaces.includes(metadata.namespace ?? ""),
});

type Input = { app: App; tenant: TenantRow; stand: MayWrite<AppRow> };

const apply = async (
  deps: AppDeps,
  record: Records<App, AppRow>,
  { app, tenant, stand }: Input,
  signal: AbortSignal,
): Promise<Verdict> => {
  const finding = badZone(app);
  if (finding !== null) return refusal(finding);
  const credentials = accountsOf(app.spec, await secretValues(deps.secrets, app, secretNamesOf(app.spec), signal));
  if ("finding" in credentials) return refusal(credentials.finding);
  const id = idOf(appResource, app);
  const sealed = sealAccounts(deps.ring, id, credentials.accounts, stand.row);
  const set = { ...appMembers(app, tenant), ...sealed };
  const names = tenant.namespaces.map((namespace) => appNameOf({ ...app, metadata: { ...app.metadata, namespace } }));
  const write = () => record.keep(app, stand, { set, begin: { created_at: deps.clock.now() }, names });
  const create = async () => {
    const full = await noRoom(deps, id, tenant);
    return full === null ? write() : { verdict: noRoomYet(full) };
  };
  const result = await (stand.row === null ? deps.oneByOne(tenant._id, create) : write());
  if ("verdict" in result) return result.verdict;
  if (result.kept === "created") {
    await requireHolder(deps, app, { rows: deps.apps, collection: appCollection.name, id, tenantId: tenant._id });
  }
  return kept(app, "app", { ...result, id, ...statusOf({ tenant_id: tenant._id, ...sealed }) });
};

const badZone = ({ spec }: App): Finding | null =>
  isTimeZone(spec.timeZone) ? null : refused("InvalidTimeZone", `${spec.timeZone} is not an IANA time zone`);

const noRoom = async ({ apps, plans }: AppDeps, id: string, tenant: TenantRow): Promise<Finding | null> => {
  const limit = (await plans.find(tenant.plan))?.apps ?? null;
  if (limit === null || (await apps.countOthers(tenant._id, id)) < limit) return null;
  return refused("PlanLimitReached", `the plan ${tenant.plan} has room for ${limit} apps`);
};

/** What is unique of an app, with the namespace that it is in. */
export const appNameOf = ({ metadata, spec }: App): string =>
  `${metadata.namespace}/${spec.displayName ?? metadata.name}`;

const appMembers = ({ metadata, spec }: App, tenant: TenantRow): Partial<AppRow> => ({
  tenant_id: tenant._id,
  name: spec.displayName ?? metadata.name,
  time_zone: spec.timeZone,
  idempotency_mismatch: spec.idempotencyMismatch,
});

const statusOf = ({ tenant_id, channels }: Pick<AppRow, "tenant_id" | "channels">): Record<string, unknown> => ({
  tenantId: tenant_id,
  channels: Object.keys(channels).sort().join(","),
  ...(channels.web_push && { webPushPublicKey: channels.web_push.public_key }),
});
