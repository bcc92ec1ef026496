import { NotFound } from "#core/errors.ts";
import { Why, WhyQuery, WhySummary } from "#core/schema/why/why.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type WhyUse, whyUseCases } from "./use-cases.ts";

const path = "/v1/apps/{appId}/notifications/{messageId}/why";

const route = routeOf<WhyUse>({ tag: "Notifications", scopes: ["analytics:read"] });

/** The message that the path names, and its app. */
const messageOfApp = async (located: Located<WhyUse>): Promise<{ app: AppRow; message: MessageRow }> => {
  const app = await appOfPath(located);
  const message = await located.use.findMessage(app.tenant_id, located.params["messageId"] ?? "", located.signal);
  if (message?.app_id !== app._id) throw new NotFound("notification");
  return { app, message };
};

const routes = [
  route({
    id: "explainNotification",
    method: "GET",
    path,
    summary: "Say why somebody got a notification, or did not",
    query: WhyQuery,
    reply: Why,
    locate: messageOfApp,
    handle: async ({ use, caller, ip, requestId, query, resource: { app, message } }) => ({
      body: await use.why({ caller, ip, requestId }, app, message, query),
    }),
  }),

  route({
    id: "summarizeNotification",
    method: "GET",
    path: `${path}/summary`,
    summary: "Count the recipients of a notification by what decided about them",
    reply: WhySummary,
    locate: messageOfApp,
    handle: async ({ use, resource: { app, message } }) => ({ body: await use.summary(app, message) }),
  }),
];

/** Why somebody got a notification, or did not. */
export const why = feature({ make: whyUseCases, routes, ...docs });
