/** What a plan can include. Source: docs/reference/limits.md#plan-features. */
export const planFeatures = [
  "conversations",
  "warehouse_export",
  "optimized_delivery",
  "frequency_caps",
  "quiet_hours",
  "ab_testing",
  "identity_verification",
  "live_activities",
  "webhooks",
  "imports",
  "exports",
] as const;

export type PlanFeature = (typeof planFeatures)[number];
