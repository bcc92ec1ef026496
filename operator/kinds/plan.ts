import type { Ensured } from "#core/queue/jetstream/streams.ts";
import { planStream, type StreamSpec } from "#core/queue/topology.ts";
import { type PlanSpec, planResource } from "#core/schema/plans/resource.ts";
import { type PlanRow, type Plans, planCollection } from "#core/storage/plans/plans.ts";
import type { Tenants } from "#core/storage/tenants/tenants.ts";
import type { Handler, Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import type { Store } from "../kube/store.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { idOf } from "../policies/management.ts";
import { type Common, kept } from "../records/platform.ts";
import { records } from "../records/record.ts";

export type PlanDeps = Common & {
  plans: Plans;
  tenants: Pick<Tenants, "namesOnPlan">;
  store: Pick<Store<Plan>, "by">;
  /** First part of every stream's name. */
  prefix: string;
  ensureStream: (spec: StreamSpec) => Promise<Ensured>;
  /** Does nothing when there is no such stream. */
  deleteStream: (name: string) => Promise<void>;
};

type Plan = Resource<PlanSpec, { id?: string }>;

/** Plan: a document, and the stream through which its tenants' work flows. */
export const planHandler = (deps: PlanDeps): Handler<Plan> => {
  const { plans, tenants } = deps;
  const record = records({
    ...deps,
    definition: planResource,
    rows: plans,
    collection: planCollection.name,
    what: "plan",
  });
  const streamOf = (name: string, backlogPerTenant: number): StreamSpec =>
    planStream(deps.prefix, { name, backlogPerTenant });
  return {
    reconcile: async (plan) => {
      const set = planMembers(plan.spec);
      const stand = await record.look(plan);
      if (stand.kind !== "write") {
        if (stand.kind === "left") await deps.ensureStream(streamOf(stand.row._id, stand.row.backlog_per_tenant));
        return record.tell(plan, stand, {
          describe: ({ _id }) => ({ status: statusOf(streamOf(_id, 1)), members: set }),
        });
      }
      const refusal = record.problem(plan, stand, { set });
      if (refusal !== null) return refusal;
      const stream = streamOf(idOf(planResource, plan), plan.spec.backlogPerTenant);
      const streamed = await deps.ensureStream(stream); // before the document: no tenant is on a plan without a stream
      const result = await record.keep(plan, stand, { set, begin: {} });
      if ("verdict" in result) return result.verdict;
      const verdict = kept(plan, "plan", { ...result, id: idOf(planResource, plan), ...statusOf(stream) });
      if (streamed === "draining") return draining(verdict);
      return { ...verdict, isChanged: verdict.isChanged || streamed !== "unchanged" };
    },
    remove: (plan) =>
      record.drop(plan, {
        before: async (name) => inUse(await tenants.namesOnPlan(name, 5)),
        after: (name) => deps.deleteStream(streamOf(name, 1).stream.name),
      }),
  };
};

const drainMs = 5_000;

/** More hints of a tenant wait than the plan allows now: none is dropped, and the limit follows as they become fewer. */
const draining = (verdict: Verdict): Verdict => ({
  ...verdict,
  ready: { ...verdict.ready, message: `${verdict.ready.message}; its backlog limit is lowered as what waits is done` },
  requeueAfterMs: drainMs,
});

const statusOf = ({ stream }: StreamSpec): Record<string, unknown> => ({ stream: stream.name });

const inUse = (names: readonly string[]): Finding | null =>
  names.length === 0 ? null : refused("InUse", `tenants are on this plan: ${names.join(", ")}`);

const planMembers = (spec: PlanSpec): Partial<PlanRow> => ({
  title: spec.title,
  api_rps: spec.apiRps,
  subscribers: spec.subscribers ?? null,
  messages_per_month: spec.messagesPerMonth ?? null,
  apps: spec.apps ?? null,
  webhook_endpoints: spec.webhookEndpoints,
  retention_days: spec.retentionDays,
  backlog_per_tenant: spec.backlogPerTenant,
  features: [...spec.features].sort(),
});
