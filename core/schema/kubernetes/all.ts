import { appResource } from "../../channels/app-resource.ts";
import { apiKeyResource } from "../api-keys/resource.ts";
import { liveActivityTypeResource } from "../live-activities/resource.ts";
import { planResource } from "../plans/resource.ts";
import { tenantResource } from "../tenants/resource.ts";
import { webhookResource } from "../webhooks/resource.ts";
import type { ResourceDefinition } from "./definition.ts";

/** Every kind of the group, owners before what they own. */
export const allResources: readonly ResourceDefinition[] = [
  planResource,
  tenantResource,
  appResource,
  apiKeyResource,
  webhookResource,
  liveActivityTypeResource,
];
