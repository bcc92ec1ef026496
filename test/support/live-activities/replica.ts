import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import { sends } from "../../../apiserver/live-activities/send-routes.ts";
import { allAccounts, anApiKey, anApp, aPlan, aTenant, testKeyRing } from "../rows/fixtures.ts";

/** An app with a type of live activities, and who may send them, under a plan. Nothing of it is stored. */
export const anActivitySender = (plan: Partial<PlanRow> = {}) => {
  const tenant = aTenant();
  const blank = anApp({ tenant_id: tenant._id });
  const app = { ...blank, channels: allAccounts(blank._id) };
  const type: LiveActivityTypeRow = {
    _id: `lat_${app._id}`,
    tenant_id: tenant._id,
    app_id: app._id,
    name: "Order",
    description: null,
    content_state_schema: { type: "object", properties: {} },
    attributes_schema: { type: "object", properties: {} },
    managed: null,
    created_at: new Date(),
    updated_at: new Date(),
  };
  return { app, type, caller: { key: anApiKey({ tenant_id: tenant._id }).row, tenant, plan: aPlan(plan) } };
};

export type ActivitySender = ReturnType<typeof anActivitySender>;

/** What an apiserver does with live activities, in this process and by a clock of its own; no dispatcher is told. */
export const activityReplica = (db: Db, { type, ...sender }: ActivitySender, clock: Clock) => {
  const rest = { countAccepted: () => undefined, hints: { message: () => undefined } };
  const log = createLog({ program: "apiserver", level: "fatal" });
  const platform = { db, secrets: keyRing(testKeyRing), clock, log, settings: { firstDayMessages: 0 }, ...rest };
  const use = sends(platform, async () => type);
  const asked = <B>(body: B, key?: string) => ({
    ...sender,
    type,
    body,
    key,
    fingerprint: JSON.stringify(body),
    traceparent: "",
  });
  const never = new AbortController().signal;
  type Body<F extends (asked: never, signal: AbortSignal) => unknown> = Parameters<F>[0] extends { body: infer B }
    ? B
    : never;
  return {
    start: async (body: Body<typeof use.start>, key?: string) => (await use.start(asked(body, key), never)).result,
    update: async (body: Body<typeof use.updateActivity>) => (await use.updateActivity(asked(body), never)).result,
    end: async (body: Body<typeof use.end>) => (await use.end(asked(body), never)).result,
  };
};
