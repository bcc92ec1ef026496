import type { CollectionSpec } from "./collection.ts";
import type { Managed } from "./plans.ts";

export type ObjectSchema = { type: "object"; properties: Record<string, Record<string, unknown>>; required?: string[] };

export type LiveActivityTypeRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  name: string;
  description: string | null;
  content_state_schema: ObjectSchema;
  attributes_schema: ObjectSchema;
  managed: Managed | null;
  created_at: Date;
  updated_at: Date;
};

export const liveActivityTypeCollection: CollectionSpec = {
  name: "live_activity_types",
  indexes: [
    { key: { app_id: 1, name: 1 }, name: "name", unique: true },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
};
