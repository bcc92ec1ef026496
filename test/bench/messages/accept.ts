import { aSubscription, seed } from "../../support/rows/fixtures.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { type LoadResult, runLoad } from "./load.ts";

const devices = 1_000;

/**
 * Sends notifications of one recipient each over 32 connections; dispatchers deliver them meanwhile. `warmUp` more before
 * them fill caches and have code compiled.
 */
export const accept = async (
  system: System,
  apiserver: SystemProgram,
  { requests, warmUp }: { requests: number; warmUp: number },
): Promise<LoadResult> => {
  const subscriptions = Array.from({ length: devices }, () =>
    aSubscription({ tenant_id: system.tenantId, app_id: system.app._id }),
  );
  await seed(system.db, { subscriptions });
  const ids = subscriptions.map(({ _id }) => _id);
  const body = (n: number): string =>
    JSON.stringify({
      app_id: system.app._id,
      target: { include_subscription_ids: [ids[n % devices]] },
      headings: { en: "Your order" },
      contents: { en: `Order ${n} is on its way.` },
      data: { order: String(n) },
    });
  const load = {
    url: `${apiserver.url}/v1/notifications`,
    connections: 32,
    headers: { authorization: `Bearer ${system.token}` },
    body,
    status: 202,
  };
  await runLoad({ ...load, requests: warmUp });
  return runLoad({ ...load, requests });
};
