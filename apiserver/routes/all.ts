import { openapi } from "../openapi.ts";
import type { Route } from "../route.ts";
import { eventRoutes } from "./events.ts";
import { liveActivityRoutes } from "./live-activities.ts";
import { notificationRoutes } from "./notifications.ts";
import { documentRoute, serviceRoutes } from "./service.ts";
import { userRoutes } from "./users.ts";
import { webhookDeliveryRoutes } from "./webhook-deliveries.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Every operation of the REST interface. */
export const routes: readonly Route[] = [
  ...notificationRoutes,
  ...userRoutes,
  ...liveActivityRoutes,
  ...webhookDeliveryRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  ...serviceRoutes,
  documentRoute(() => document),
];

const document = openapi(routes);
