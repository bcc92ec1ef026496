import { secretNamesOf } from "#core/channels/accounts.ts";
import { type AppSpec, appResource } from "#core/channels/app-resource.ts";
import { beyondRetention, settingProblems } from "#core/domain/apps/setting-rules.ts";
import { defined } from "#core/domain/defined.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { type SettingValues, settingFeatures, settingNames } from "#core/schema/apps/settings.ts";
import { camelCase, settingsOfResource } from "#core/schema/apps/settings-resource.ts";
import { tenantResource } from "#core/schema/tenants/resource.ts";
import { type AccountCheckRows, type AccountChecks, accountChecks } from "#core/storage/apps/account-checks.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { sealAccounts } from "#core/storage/apps/seal-accounts.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import { type Handler, refusal, type Verdict } from "../engine/handler.ts";
import { link, namespaceOf } from "../engine/links.ts";
import { secretValues } from "../kube/secrets.ts";
import { accountsStatus, accountsVerified, testedAccounts, unasked } from "../policies/apps/accounts.ts";
import { accountsOf } from "../policies/apps/credentials.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { hasNamed } from "../policies/named-members.ts";
import { defineKind, type Tools } from "../records/kind.ts";
import { inTenant, noTenant, ofTenant, tenantOf } from "../records/owner-refs.ts";
import type { Platform } from "../records/platform.ts";
import type { MayWrite } from "../records/record-deps.ts";
import { type WithinPlan, withinPlan } from "../records/within-plan.ts";

type App = Resource<AppSpec, { id?: string }>;
type Deps = Tools<App, AppRow> & { checks: AccountChecks; withinPlan: WithinPlan<TenantRow> };

/** App: a document of the tenant that owns the namespace, with its credentials sealed. */
export const app = defineKind<App, AppRow>({
  definition: appResource,
  what: "app",
  collection: appCollection,
  rows: ({ owners }) => owners.apps,
  called: ({ owners }, { tenant_id = "", name = "" }) => owners.apps.called(tenant_id, name),
  indexes: { name: (resource) => [nameIn(resource.metadata.namespace, resource)], namespace: namespaceOf },
  links: [
    link(tenantResource, "namespace", ({ spec }) => spec.namespaces),
    link(appResource, "namespace", namespaceOf, "deleted"), // those that wait for its name, or for room in the plan
  ],
  readsSecrets: ({ spec }) => secretNamesOf(spec),
  isRecordReported: true,
  inputs: (tools) => {
    const checks = accountChecks(tools.db);
    return async (resource) => {
      const [row, tenant] = await Promise.all([
        tools.rows.find(tools.record.idOf(resource)),
        tenantOf(tools, resource),
      ]);
      const tested = row === null ? [] : [...(await checks.of(row)).values()];
      const plan = tenant === undefined ? null : await tools.owners.plans.find(tenant.plan);
      return [row, tenant, plan, tested.map(({ revision, last }) => [revision, last])];
    };
  },
  handler: (tools) =>
    handler({ ...tools, checks: accountChecks(tools.db), withinPlan: withinPlan(whyNot(tools), tools.timing) }),
});

const handler = (deps: Deps): Handler<App> => {
  const { record, cascade } = deps;
  return {
    reconcile: async (resource, signal) => {
      const tenant = await tenantOf(deps, resource);
      if (tenant === undefined) return refusal(noTenant(resource));
      const stand = await record.look(resource, inTenant(tenant));
      if (stand.kind === "write") return apply(deps, { resource, tenant, stand }, signal);
      const describe = async (row: AppRow) => ({
        ...reportOf(row, await deps.checks.of(row)),
        members: membersOf(resource, tenant, null),
      });
      return record.report(resource, stand, describe, signal);
    },
    remove: async (resource, signal) =>
      record.drop(
        resource,
        { before: (id) => cascade.ofApp(id).then(() => null) },
        signal,
        await ofTenant(deps, resource),
      ),
  };
};

type Input = { resource: App; tenant: TenantRow; stand: MayWrite<AppRow> };

const apply = async (deps: Deps, { resource, tenant, stand }: Input, signal: AbortSignal): Promise<Verdict> => {
  const { record, secrets, keyRing, clock } = deps;
  const { spec } = resource;
  const settings = settingsNamed(spec);
  const finding = badSetting(settings) ?? beyondPlan(settings, await deps.owners.plans.find(tenant.plan));
  if (finding !== null) return refusal(finding);
  const credentials = accountsOf(spec, await secretValues(secrets, resource, secretNamesOf(spec), signal));
  if ("finding" in credentials) return refusal(credentials.finding);
  const id = record.idOf(resource);
  const { row } = stand;
  const members = ["name", ...Object.keys(settings), ...Object.keys(credentials.accounts).map(channelMember)];
  const isOthers = (channel: string): boolean =>
    !members.includes(channelMember(channel)) && !hasNamed(row, channelMember(channel));
  const sealed = sealAccounts(keyRing, id, credentials.accounts, { stored: row, isOthers });
  const set = { ...membersOf(resource, tenant, row), ...sealed };
  const names = tenant.namespaces.map((namespace) => nameIn(namespace, resource));
  const wanted = { set, begin: { created_at: clock.now() }, names, members };
  const result = await deps.withinPlan({ owner: tenant, id, row }, () => record.keep(resource, stand, wanted));
  if ("verdict" in result) return result.verdict;
  if (result.kept === "created") await record.requireTenant(resource, tenant._id);
  const checks = await askForChecks(deps, { _id: id, ...set });
  const { status, conditions } = reportOf(set, checks);
  return { ...record.kept(resource, result, status), conditions };
};

/** Has accounts that changed tested by a dispatcher, which announces what it finds; gives what is known so far. */
const askForChecks = async (
  { checks, fence, clock }: Deps,
  app: Pick<AppRow, "_id" | "tenant_id" | "channels" | "channels_revision">,
): Promise<AccountCheckRows> => {
  const known = await checks.of(app);
  fence.check();
  await checks.ask(app, unasked(app, known), clock.now());
  return known;
};

const badSetting = (settings: SettingValues): Finding | null => {
  const [problem] = settingProblems(settings);
  if (problem === undefined) return null;
  const { field, message } = problem;
  return field === "time_zone"
    ? refused("InvalidTimeZone", message)
    : refused("SettingInvalid", `${camelCase(field)}: ${message}`);
};

const beyondPlan = (settings: SettingValues, plan: PlanRow | null): Finding | null => {
  const [longer] = plan === null ? [] : beyondRetention(settings, plan);
  if (longer !== undefined) return refused("PlanLimitReached", `settings.${camelCase(longer.field)} ${longer.message}`);
  const missing = settingNames.filter((name) => {
    const feature = settingFeatures[name];
    return settings[name] !== undefined && feature !== undefined && plan?.features.includes(feature) === false;
  });
  if (missing.length === 0) return null;
  const wanted = missing.map((name) => `settings.${camelCase(name)}`).join(", ");
  return refused("PlanFeatureRequired", `the plan ${plan?._id ?? ""} does not include ${wanted}`);
};

const whyNot =
  ({ owners: { apps, plans } }: Pick<Platform, "owners">) =>
  async (tenant: TenantRow, exceptId: string): Promise<Finding | null> => {
    const limit = (await plans.find(tenant.plan))?.apps ?? null;
    if (limit === null || (await apps.countOthers(tenant._id, exceptId)) < limit) return null;
    return refused("PlanLimitReached", `the plan ${tenant.plan} has room for ${limit} apps`);
  };

/** The app's name, which is unique in the tenant, as each of the tenant's namespaces has it in the index `name`. */
const nameIn = (namespace: string | undefined, { metadata, spec }: App): string =>
  `${namespace}/${spec.displayName ?? metadata.name}`;

const membersOf = (resource: App, tenant: TenantRow, row: AppRow | null) => ({
  tenant_id: tenant._id,
  name: resource.spec.displayName ?? resource.metadata.name,
  ...letGo(row),
  ...settingsNamed(resource.spec),
});

/** The settings that the resource names; those outside of `settings` are of former releases. */
const settingsNamed = ({ settings = {}, timeZone, idempotencyMismatch, importHuaweiAs }: AppSpec): SettingValues => ({
  ...defined({ time_zone: timeZone, idempotency_mismatch: idempotencyMismatch, import_huawei_as: importHuaweiAs }),
  ...settingsOfResource(settings),
});

/** Settings that a resource has named before: those that it names no longer have their default again. */
const letGo = (row: AppRow | null): SettingValues =>
  Object.fromEntries(
    settingNames.filter((name) => hasNamed(row, name) && (row?.[name] ?? null) !== null).map((name) => [name, null]),
  );

const channelMember = (channel: string): string => `channels.${channel}`;

/** The App's own status and condition. */
const reportOf = (
  app: Pick<AppRow, "tenant_id" | "channels" | "channels_revision">,
  checks: AccountCheckRows,
): { status: Record<string, unknown>; conditions: Record<string, Finding> } => {
  const { tenant_id: tenantId, channels } = app;
  const accounts = testedAccounts(app, checks);
  const status = {
    tenantId,
    channels: Object.keys(channels).sort().join(","),
    accounts: accountsStatus(accounts),
    ...(channels.web_push && { webPushPublicKey: channels.web_push.public_key }),
  };
  return { status, conditions: { AccountsVerified: accountsVerified(accounts) } };
};
