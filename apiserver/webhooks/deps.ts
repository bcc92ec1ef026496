import type { Clock } from "#core/domain/clock.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { WebhookEndpoints } from "#core/storage/webhooks/endpoints.ts";
import type { WebhookHistory } from "#core/storage/webhooks/history.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { Audit } from "../settings/audit.ts";
import type { CheckDeps } from "./checks.ts";

/** What changes of endpoints need. */
export type WebhookDeps = CheckDeps & {
  endpoints: WebhookEndpoints;
  history: WebhookHistory;
  /** Tells every process that an endpoint changed. Best effort. */
  announce: (endpoint: Pick<WebhookRow, "_id" | "app_id">) => void;
  /** Rings an endpoint's doorbell. Best effort: its `due_at` has it looked at as well. */
  ring: (endpointId: string) => void;
  /** Has an endpoint looked at by `at`, should the doorbell not be heard. */
  wake: (endpointIds: readonly string[], at: Date) => Promise<void>;
  limit: NarrowLimit;
  audit: Audit;
  seal: KeyRing["seal"];
  unseal: KeyRing["open"];
  /** `whsec_` and base64 of 32 random bytes. */
  newSecret: () => string;
  clock: Clock;
};
