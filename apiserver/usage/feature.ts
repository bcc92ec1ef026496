import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import { Usage } from "#core/schema/usage/usage.ts";
import { usage as quotaCounters } from "#core/storage/messages/usage.ts";
import { webhookBacklogs } from "#core/storage/usage/backlogs.ts";
import { tenantUsage } from "#core/storage/usage/tenant-usage.ts";
import { feature } from "../http/feature.ts";
import { type Located, routeOf } from "../http/route.ts";
import { quotaUses } from "../limits/quota.ts";
import { docs } from "./openapi.ts";
import { showUsage } from "./show.ts";

type UsagePlatform = { db: Db; clock: Clock; settings: { firstDayMessages: number } };

const make = ({ db, clock, settings: { firstDayMessages } }: UsagePlatform) => ({
  show: showUsage({
    usage: tenantUsage(db),
    backlogs: webhookBacklogs(db),
    quotas: quotaUses({ usage: quotaCounters(db), firstDayMessages }),
    clock,
  }),
});

type Use = ReturnType<typeof make>;

const route = routeOf<Use>({ tag: "Usage", scopes: ["analytics:read"] });

/** What the organisation does is told to keys of all its apps only: one of some apps knows nothing of the others. */
const ofCaller = async ({ caller }: Located<Use>): Promise<null> => {
  if (caller.key.app_ids === null) return null;
  throw new AppError("HS_FORBIDDEN", "a key that is bound to apps does not see the usage of the organisation", {
    reason: "key_of_apps",
  });
};

const routes = [
  route({
    id: "getUsage",
    method: "GET",
    path: "/v1/usage",
    summary: "Show what the organisation did in the last hour and this month, and its limits",
    reply: Usage,
    locate: ofCaller,
    handle: async ({ use, caller }) => ({ body: await use.show(caller) }),
  }),
];

/** What an organisation uses of the service. */
export const usage = feature({ make, routes, ...docs });
