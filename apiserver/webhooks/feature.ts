import { feature } from "../http/feature.ts";
import { webhookDeliveryRoutes } from "./delivery-routes.ts";
import { docs } from "./openapi.ts";
import { webhookRoutes } from "./routes.ts";
import { webhookUseCases } from "./use-cases.ts";

/** Endpoints that events are sent to, and what was sent to them. */
export const webhooks = feature({
  make: webhookUseCases,
  routes: [...webhookDeliveryRoutes, ...webhookRoutes],
  ...docs,
});
