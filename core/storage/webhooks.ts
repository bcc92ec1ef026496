import type { EventKind } from "../schema/event.ts";
import type { CollectionSpec } from "./collection.ts";
import type { Managed } from "./plans.ts";
import type { Sealed } from "./sealed.ts";
import { dueIndex, type Wakeable } from "./wake.ts";

/** An outbound endpoint. Its `due_at` is the earliest due delivery; its lease is the right to send to it. */
export type WebhookRow = Wakeable & {
  _id: string;
  tenant_id: string;
  app_id: string;
  url: string;
  description: string | null;
  events: EventKind[];
  event_names: string[];
  status: "active" | "failing" | "disabled";
  disabled_reason: string | null;
  secret: Sealed;
  previous_secret: { secret: Sealed; expires_at: Date } | null;
  failure_count: number;
  failing_since: Date | null;
  last_success_at: Date | null;
  last_failure_at: Date | null;
  managed: Managed | null;
  created_at: Date;
  updated_at: Date;
};

export const webhookCollection: CollectionSpec = {
  name: "webhooks",
  indexes: [{ key: { app_id: 1 }, name: "app" }, { key: { "managed.uid": 1 }, name: "managed" }, dueIndex],
};
