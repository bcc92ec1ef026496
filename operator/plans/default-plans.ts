import type { KubeClient } from "#core/runtime/kube/client.ts";
import { isConflict, KubeError } from "#core/runtime/kube/errors.ts";
import { collectionPath } from "#core/runtime/kube/paths.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type PlanSpec, planResource } from "#core/schema/plans/resource.ts";
import { pause } from "../kube/watch.ts";

/** A Plan as the chart's values give it. */
export type PlanManifest = {
  apiVersion: string;
  kind: "Plan";
  metadata: { name: string; labels?: Record<string, string> };
  spec: PlanSpec;
};

export type ApplyPlansDeps = { client: KubeClient; log: Log };

const retryMs = 1_000;

/**
 * Applies plans by server-side apply, so that members which are no longer given go, and a plan that somebody else has
 * changed stays theirs. Waits, until `signal` aborts, for the API server to know the kind.
 * @throws KubeError when a plan is refused
 */
export const applyPlans = async (
  { client, log }: ApplyPlansDeps,
  plans: readonly PlanManifest[],
  signal: AbortSignal,
): Promise<void> => {
  for (const plan of plans) {
    const { name } = plan.metadata;
    const conflict = await whenServed(() => applyOne(client, plan, signal), signal);
    if (conflict === null) log.info({ plan: name }, "plan.applied");
    else log.warn({ plan: name, conflict }, "plan.left_alone");
  }
};

/** Applies one plan. When somebody else has set a member to another value, it says who and which. */
const applyOne = async (client: KubeClient, plan: PlanManifest, signal: AbortSignal): Promise<string | null> => {
  const path = `${collectionPath(planResource)}/${plan.metadata.name}?fieldManager=herald-plans&fieldValidation=Strict`;
  try {
    await client.call({ method: "PATCH", path, body: plan, contentType: "application/apply-patch+yaml" }, signal);
    return null;
  } catch (error) {
    if (error instanceof KubeError && isConflict(error)) return error.reason;
    throw error;
  }
};

/** Just after its CustomResourceDefinition was made, a kind is unknown (404) or not yet open for writes. */
const whenServed = async <T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
      await pause(retryMs, signal);
    }
  }
};

/** 500 is not transient: with it the API server refuses a member that the kind does not have. */
const isTransient = (error: unknown): boolean =>
  error instanceof KubeError && [0, 404, 429, 502, 503, 504].includes(error.status);
