import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";

/** Who calls: an API key, its organisation and what its plan allows. */
export type Caller = { key: ApiKeyRow; tenant: TenantRow; plan: PlanRow };
