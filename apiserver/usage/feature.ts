import { AppError } from "#core/errors.ts";
import { Usage } from "#core/schema/usage/usage.ts";
import { feature } from "../http/feature.ts";
import { type Located, routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type UsageUse, usageUseCases } from "./use-cases.ts";

const route = routeOf<UsageUse>({ tag: "Usage", scopes: ["analytics:read"] });

/** What the organisation does is told to keys of all its apps only: one of some apps knows nothing of the others. */
const ofCaller = async ({ caller }: Located<UsageUse>): Promise<null> => {
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
export const usage = feature({ make: usageUseCases, routes, ...docs });
