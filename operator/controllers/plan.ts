import { planStream, type StreamSpec } from "#core/queue/topology.ts";
import { type PlanSpec, planResource } from "#core/schema/resources/plan.ts";
import { type PlanRow, type Plans, planCollection } from "#core/storage/plans.ts";
import type { Tenants } from "#core/storage/tenants.ts";
import { type Finding, refused } from "../engine/conditions.ts";
import type { Handler } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import { type Common, dropRow, isWritten, kept, keptFinding, managedBy, refusal } from "./common.ts";

export type PlanDeps = Common & {
  plans: Plans;
  tenants: Pick<Tenants, "namesOnPlan">;
  /** First part of every stream's name. */
  prefix: string;
  ensureStream: (spec: StreamSpec) => Promise<"created" | "updated" | "unchanged">;
  /** Does nothing when there is no such stream. */
  deleteStream: (name: string) => Promise<void>;
};

/** Plan: a document, and the stream through which its tenants' work flows. */
export const planHandler = (deps: PlanDeps): Handler<Resource<PlanSpec>> => {
  const { plans, tenants, announce, clock } = deps;
  const streamOf = ({ metadata, spec }: Resource<PlanSpec>): StreamSpec =>
    planStream(deps.prefix, { name: metadata.name, backlogPerTenant: spec.backlogPerTenant });
  return {
    reconcile: async (plan) => {
      const { name } = plan.metadata;
      const stream = streamOf(plan);
      const streamed = await deps.ensureStream(stream); // before the document: no tenant is on a plan without a stream
      const found = await plans.find(name);
      const managed = managedBy(planResource, plan);
      const wanted = { id: name, found, managed, set: planMembers(plan.spec), begin: {} };
      const result = await plans.keep(wanted, clock.now());
      if (isWritten(result)) announce(planCollection.name, name);
      const finding = keptFinding(result, "plan");
      if (finding !== null) return refusal(finding);
      const verdict = kept("plan", result, { id: name, stream: stream.stream.name });
      return { ...verdict, isChanged: verdict.isChanged || streamed !== "unchanged" };
    },
    remove: async (plan) => {
      const { name } = plan.metadata;
      const row = await plans.find(name);
      if (row !== null && row.managed?.uid !== plan.metadata.uid) return null;
      if (plan.spec.deletionPolicy === "Delete") {
        const users = await tenants.namesOnPlan(name, 5);
        if (users.length > 0) return inUse(users);
      }
      await dropRow({ rows: plans, collection: planCollection.name, announce, clock }, name, plan);
      if (plan.spec.deletionPolicy === "Delete") await deps.deleteStream(streamOf(plan).stream.name);
      return null;
    },
  };
};

const inUse = (names: readonly string[]): Finding => refused("InUse", `tenants are on this plan: ${names.join(", ")}`);

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
