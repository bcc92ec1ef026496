import type { Kind } from "../records/kind.ts";
import { apiKey } from "./api-key.ts";
import { app } from "./app.ts";
import { inAppMessage } from "./in-app-message.ts";
import { incident } from "./incident.ts";
import { liveActivityType } from "./live-activity-type.ts";
import { plan } from "./plan.ts";
import { segment } from "./segment.ts";
import { template } from "./template.ts";
import { tenant } from "./tenant.ts";
import { warehouseExport } from "./warehouse-export.ts";
import { webhook } from "./webhook.ts";

/** Every kind, owners before what they own. */
export const allKinds: readonly Kind[] = [
  plan,
  tenant,
  app,
  apiKey,
  webhook,
  liveActivityType,
  segment,
  template,
  inAppMessage,
  warehouseExport,
  incident,
];
