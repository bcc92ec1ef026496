import { hash as hashOf } from "node:crypto";
import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import type { KeyFault } from "#core/schema/vocabulary/refusal-reasons.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import type { Caller } from "./caller.ts";
import type { FoundKey } from "./key-lookup.ts";
import { requirePlan, suspension } from "./tenant.ts";

/** Finds the caller of a token, or gives 401 with the reason, or 403 for a suspended organisation. */
export type Authenticate = (token: string) => Promise<Caller | AppError>;

export type AuthenticateDeps = {
  /** The key that has a token with this SHA-256 (hex); may be up to 30 s old. */
  keyOf: (hash: string) => Promise<FoundKey>;
  tenant: (id: string) => Promise<TenantRow | null>;
  plan: (name: string) => Promise<PlanRow | null>;
  clock: Clock;
};

/** Tokens are random, so a plain SHA-256 finds them; the token itself is stored nowhere. */
export const authenticate =
  (deps: AuthenticateDeps): Authenticate =>
  async (token) => {
    const hash = hashOf("sha256", token, "hex");
    const key = await deps.keyOf(hash);
    if (key === null) return unauthenticated("invalid");
    if (key === "revoked") return unauthenticated("revoked");
    const ended = endOf(key, hash, deps.clock.now());
    if (ended !== null) return unauthenticated(ended);
    const tenant = await deps.tenant(key.tenant_id);
    if (tenant === null) return unauthenticated("revoked");
    if (tenant.suspended) return suspension(tenant);
    return { key, tenant, plan: requirePlan(await deps.plan(tenant.plan)) };
  };

const endOf = (key: ApiKeyRow, hash: string, now: Date): "revoked" | "expired" | null => {
  if (key.revoked_at !== null) return "revoked";
  const place = key.hashes.findIndex((entry) => entry.hash === hash);
  const expiresAt = key.hashes[place]?.expires_at ?? null;
  if (expiresAt === null || expiresAt > now) return null;
  return place === 0 ? "expired" : "revoked"; // replaced by the first
};

const sentences: Record<KeyFault, string> = {
  missing: "an API key is required: Authorization: Bearer <key>",
  invalid: "the API key is not known",
  revoked: "the API key has been revoked",
  expired: "the API key has expired",
};

export const unauthenticated = (reason: KeyFault): AppError =>
  new AppError("HS_UNAUTHENTICATED", sentences[reason], { reason });
