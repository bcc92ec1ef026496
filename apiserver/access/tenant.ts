import { AppError } from "#core/errors.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";

/** What whoever calls for a suspended organisation is told. */
export const suspension = ({ suspended_reason: why }: TenantRow): AppError =>
  new AppError("HS_ORGANIZATION_SUSPENDED", "this organisation is suspended", { reason: why ?? "suspended" });

/** The plan of an organisation. @throws AppError HS_UNAVAILABLE while it is not there */
export const requirePlan = (plan: PlanRow | null): PlanRow => {
  if (plan !== null) return plan;
  throw new AppError("HS_UNAVAILABLE", "the organisation's plan is not set up yet", { retry_after_seconds: 5 });
};
