import type { PlanFeature } from "../../schema/vocabulary/plan-features.ts";
import type { CollectionSpec } from "../mongo/collection.ts";
import type { Managed, ManagedRows } from "../settings/managed.ts";

/** A plan: what its tenants may do. Limits of null mean unlimited. `_id` is the plan's name, e.g. `growth`. */
export type PlanRow = {
  _id: string;
  title: string;
  api_rps: number;
  subscribers: number | null;
  messages_per_month: number | null;
  apps: number | null;
  /** People of a tenant: shown, and not counted; left out where the record is of an earlier release. */
  members?: number | null;
  /** Of one app; left out where the record is of an earlier release. */
  suppressions?: number | null;
  webhook_endpoints: number;
  retention_days: number;
  /** Hints of one tenant that may wait in the plan's stream; more stay in MongoDB until there is room. */
  backlog_per_tenant: number;
  /**
   * Events of a tenant that may wait to be published, in bytes; as usual when the plan does not say it, or its record is of
   * an earlier release.
   */
  waiting_event_bytes?: number | null;
  features: PlanFeature[];
  managed: Managed | null;
  updated_at: Date;
};

export const planCollection: CollectionSpec = {
  name: "plans",
  indexes: [{ key: { "managed.uid": 1 }, name: "managed" }],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until its resource goes" },
};

export type Plans = ManagedRows<PlanRow>;
