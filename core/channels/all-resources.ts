import { apiKeyResource } from "../schema/api-keys/resource.ts";
import { inAppMessageResource } from "../schema/in-app-messages/resource.ts";
import type { ResourceDefinition } from "../schema/kubernetes/definition.ts";
import { liveActivityTypeResource } from "../schema/live-activities/resource.ts";
import { planResource } from "../schema/plans/resource.ts";
import { segmentResource } from "../schema/segments/resource.ts";
import { incidentResource } from "../schema/status/resource.ts";
import { templateResource } from "../schema/templates/resource.ts";
import { tenantResource } from "../schema/tenants/resource.ts";
import { warehouseExportResource } from "../schema/warehouse/resource.ts";
import { webhookResource } from "../schema/webhooks/resource.ts";
import { appResource } from "./app-resource.ts";

/**
 * The definition of every kind, owners before what they own: CRDs, pages, the chart's roles, Argo CD's health checks and
 * `kubectl herald lint` follow from it.
 */
export const allResources: readonly ResourceDefinition[] = [
  planResource,
  tenantResource,
  appResource,
  apiKeyResource,
  webhookResource,
  liveActivityTypeResource,
  segmentResource,
  templateResource,
  inAppMessageResource,
  warehouseExportResource,
  incidentResource,
];
