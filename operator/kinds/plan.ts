import type { Resource } from "#core/runtime/kube/objects.ts";
import { type PlanSpec, planResource } from "#core/schema/plans/resource.ts";
import { tenantResource } from "#core/schema/tenants/resource.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import type { Handler, Verdict } from "../engine/handler.ts";
import { link } from "../engine/links.ts";
import { type PlanStreams, planStreams } from "../plans/streams.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { defineKind, type Tools } from "../records/kind.ts";

type Plan = Resource<PlanSpec, { id?: string }>;
type Deps = Tools<Plan, PlanRow> & { streams: PlanStreams };

/** Plan: a document, and the stream through which its tenants' work flows. */
export const plan = defineKind<Plan, PlanRow>({
  definition: planResource,
  what: "plan",
  collection: planCollection,
  rows: ({ owners }) => owners.plans,
  links: [link(tenantResource, "external", ({ spec }) => [spec.plan], "deleted")],
  handler: (tools) => handler({ ...tools, streams: planStreams(tools) }),
});

const handler = (deps: Deps): Handler<Plan> => {
  const { record, owners, streams } = deps;
  return {
    reconcile: async (resource, signal) => {
      const set = membersOf(resource.spec);
      const stand = await record.look(resource);
      if (stand.kind === "left") await streams.ensure(stand.row._id, stand.row.backlog_per_tenant);
      if (stand.kind !== "write") {
        const describe = ({ _id }: PlanRow) => ({ status: statusOf(deps, _id), members: set });
        return record.report(resource, stand, describe, signal);
      }
      const problem = record.problem(resource, stand, { set });
      if (problem !== null) return problem;
      const name = record.idOf(resource);
      // before the document, so that no tenant is on a plan without a stream
      const streamed = await streams.ensure(name, set.backlog_per_tenant);
      const result = await record.keep(resource, stand, { set, begin: {} });
      if ("verdict" in result) return result.verdict;
      const verdict = record.kept(resource, result, statusOf(deps, name));
      if (streamed === "draining") return draining(verdict);
      return { ...verdict, isChanged: verdict.isChanged || streamed !== "unchanged" };
    },
    remove: (resource, signal) =>
      record.drop(
        resource,
        { before: async (name) => inUse(await owners.tenants.namesOnPlan(name, 5)), after: streams.remove },
        signal,
      ),
  };
};

const drainMs = 5_000;

/** More hints of a tenant wait than the plan allows now. None is dropped: the limit is lowered as they become fewer. */
const draining = (verdict: Verdict): Verdict => ({
  ...verdict,
  ready: { ...verdict.ready, message: `${verdict.ready.message}; its backlog limit is lowered as what waits is done` },
  requeueAfterMs: drainMs,
});

const statusOf = ({ streams }: Deps, name: string): Record<string, unknown> => ({ stream: streams.nameOf(name) });

const inUse = (names: readonly string[]): Finding | null =>
  names.length === 0 ? null : refused("InUse", `tenants are on this plan: ${names.join(", ")}`);

const membersOf = (spec: PlanSpec) => ({
  title: spec.title,
  api_rps: spec.apiRps,
  subscribers: spec.subscribers ?? null,
  messages_per_month: spec.messagesPerMonth ?? null,
  apps: spec.apps ?? null,
  members: spec.members ?? null,
  suppressions: spec.suppressions ?? null,
  webhook_endpoints: spec.webhookEndpoints,
  retention_days: spec.retentionDays,
  backlog_per_tenant: spec.backlogPerTenant,
  waiting_event_bytes: spec.waitingEventMegabytes === undefined ? null : spec.waitingEventMegabytes * 1_000_000,
  features: [...spec.features].sort(),
});
