import { eventRoutes } from "./events/routes.ts";
import { openapi } from "./http/openapi/document.ts";
import type { Route } from "./http/route.ts";
import { liveActivityRoutes } from "./live-activities/routes.ts";
import { notificationRoutes } from "./messages/routes.ts";
import { userRoutes } from "./people/routes.ts";
import { documentRoute, serviceRoutes } from "./service/routes.ts";
import { webhookDeliveryRoutes } from "./webhooks/delivery-routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

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
