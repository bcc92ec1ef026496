import { apiKeyResource } from "./api-key.ts";
import { appResource } from "./app.ts";
import type { ResourceDefinition } from "./definition.ts";
import { liveActivityTypeResource } from "./live-activity-type.ts";
import { planResource } from "./plan.ts";
import { tenantResource } from "./tenant.ts";
import { webhookResource } from "./webhook.ts";

/** Every kind of the group, owners before what they own. */
export const allResources: readonly ResourceDefinition[] = [
  planResource,
  tenantResource,
  appResource,
  apiKeyResource,
  webhookResource,
  liveActivityTypeResource,
];
