import { isDeepStrictEqual } from "node:util";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { warehouseLimits } from "#core/schema/warehouse/export.ts";
import { type WarehouseExportSpec, warehouseExportResource } from "#core/schema/warehouse/resource.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import {
  type WarehouseExportRow,
  warehouseExportCollection,
  warehouseExports,
} from "#core/storage/warehouse/exports.ts";
import { warehouseRuns } from "#core/storage/warehouse/runs.ts";
import { beginningOf, newWatermarks, settingErrors } from "#core/storage/warehouse/settings.ts";
import { type Handler, refusal, type Verdict } from "../engine/handler.ts";
import { beside } from "../engine/links.ts";
import { secretValues } from "../kube/secrets.ts";
import {
  faultOf,
  membersOf,
  ownMembers,
  sealSecrets,
  secretsOf,
  settingsOf,
  statusOf,
} from "../policies/warehouse/row.ts";
import { defineKind, type Tools } from "../records/kind.ts";
import { appLink, appOf, inApp, ofApp, withApp } from "../records/owner-refs.ts";
import type { Platform } from "../records/platform.ts";
import type { MayWrite } from "../records/record-deps.ts";
import { planLimit, type WithinPlan, withinPlan } from "../records/within-plan.ts";

type WarehouseExport = Resource<WarehouseExportSpec, { id?: string }>;
type Deps = Tools<WarehouseExport, WarehouseExportRow> & { withinPlan: WithinPlan<AppRow> };

/** WarehouseExport: a document of its app, with the secrets of its destination sealed. Its runs are the dispatchers'. */
export const warehouseExport = defineKind<WarehouseExport, WarehouseExportRow>({
  definition: warehouseExportResource,
  what: "warehouse export",
  collection: warehouseExportCollection,
  called: ({ db }, { tenant_id: tenantId = "", app_id: appId = "", name = "" }) =>
    warehouseExports(db).findByName({ tenantId, appId }, name),
  goesWithOwner: { index: "list" },
  readsSecrets: ({ spec }) => [spec.destination.secretRef.name],
  indexes: { name: (one) => [nameOf(one)], app: (one) => [beside(one, one.spec.appRef)] },
  links: [appLink],
  isRecordReported: true,
  inputs: (tools) => async (resource) => {
    const id = tools.record.idOf(resource);
    const [row, app] = await Promise.all([tools.rows.find(id), appOf(tools, resource, resource.spec.appRef)]);
    return [row, app];
  },
  handler: (tools) => handler({ ...tools, withinPlan: withinPlan(limit(tools), tools.timing) }),
});

const limit = ({ db, owners }: Platform) =>
  planLimit({
    owners,
    feature: "warehouse_export",
    things: "warehouse exports",
    most: () => warehouseLimits.exports,
    countOthers: warehouseExports(db).countOthers,
  });

const handler = (deps: Deps): Handler<WarehouseExport> => {
  const { record } = deps;
  return {
    reconcile: (resource, signal) =>
      withApp(deps, resource, async (app) => {
        const stand = await record.look(resource, inApp(resource, app));
        if (stand.kind === "write") return apply(deps, { resource, app, stand }, signal);
        const describe = (row: WarehouseExportRow) => ({
          status: statusOf(row),
          members: membersOf(resource.spec, app),
        });
        return record.report(resource, stand, describe, signal);
      }),
    remove: async (resource, signal) =>
      record.drop(resource, { before: (id) => endRun(deps, id) }, signal, await ofApp(deps, resource)),
  };
};

/** Files that are written stay, and no manifest names them. */
const endRun = async ({ db, fence, clock }: Deps, id: string): Promise<null> => {
  fence.check();
  await warehouseRuns(db).cancelOpen(id, clock.now());
  return null;
};

type Input = { resource: WarehouseExport; app: AppRow; stand: MayWrite<WarehouseExportRow> };

const apply = async (deps: Deps, { resource, app, stand }: Input, signal: AbortSignal): Promise<Verdict> => {
  const { record, secrets, keyRing, network, clock } = deps;
  const { spec } = resource;
  const { row } = stand;
  const fault = faultOf(settingErrors(network.guard.problemOf, settingsOf(spec), spec.datasets), spec);
  if (fault !== null) return refusal(fault);
  const read = secretsOf(spec, await secretValues(secrets, resource, [spec.destination.secretRef.name], signal));
  if ("finding" in read) return refusal(read.finding);
  const [id, now] = [record.idOf(resource), clock.now()];
  const members = membersOf(spec, app);
  const sealed = sealSecrets(keyRing, id, read.secrets, row?.secrets ?? null);
  const set = {
    ...members,
    secrets: sealed,
    ...(sealed !== row?.secrets && { secrets_updated_at: now }),
    ...(row !== null && newWatermarks(row, members.datasets, now)),
    ...(row !== null && !isDeepStrictEqual(row.schedule, members.schedule) && { due_at: now }),
  };
  const begin = { ...beginningOf(members.datasets, now, now), created_at: now };
  const wanted = { set, begin, names: [nameOf(resource)], members: ownMembers };
  const result = await deps.withinPlan({ owner: app, id, row }, () => record.keep(resource, stand, wanted));
  return "verdict" in result ? result.verdict : record.kept(resource, result, statusOf({ ...begin, ...row, ...set }));
};

/** The export's name, which is unique in its app. */
const nameOf = ({ metadata, spec }: WarehouseExport): string => `${metadata.namespace}/${spec.appRef}/${spec.name}`;
