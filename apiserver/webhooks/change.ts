import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { rememberChange } from "#core/storage/work/intended-changes.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { laterThan, writeAsIs } from "../settings/write-as-is.ts";
import { type Verb, webhookChange } from "./audit.ts";
import type { WebhookDeps } from "./deps.ts";

export type ChangeDeps = Pick<WebhookDeps, "endpoints" | "announce" | "ring" | "audit" | "clock">;

/** What a change writes, and whether the endpoint is to be looked at for it. */
export type Change = { set: Partial<WebhookRow>; isDue: boolean };

type Wish = { by: By; verb: Verb; found: WebhookRow };

/**
 * Changes an endpoint as it is now: `decide` sees it as the write finds it, again when another was quicker.
 * @throws AppError HS_MANAGED when a resource enforces it
 */
export const changeWebhook = async (
  deps: ChangeDeps,
  { by, verb, found }: Wish,
  decide: (row: WebhookRow, now: Date) => Change,
): Promise<WebhookRow> => {
  const { endpoints, announce, ring, audit, clock } = deps;
  return writeWebhook(deps, found, async (before) => {
    const now = clock.now();
    const { set, isDue } = decide(before, now);
    requireUnmanaged("webhook", before);
    const wanted = { ...set, updated_at: laterThan(before.updated_at, now) };
    const intended = webhookChange(by, verb, { before, after: { ...before, ...wanted } }, now);
    const after = await audit(intended, async (id) => {
      const written = await endpoints.change(before, { ...wanted, ...rememberChange(before, id) }, isDue ? now : null);
      if (written !== null) announce(written); // before its event is told: the endpoint may want it now
      return written;
    });
    if (after !== null && isDue) ring(after._id);
    return after;
  });
};

/** Writes to an endpoint as it is now; `attempt` gives null when another was quicker. */
export const writeWebhook = <T>(
  { endpoints }: Pick<ChangeDeps, "endpoints">,
  found: WebhookRow,
  attempt: (row: WebhookRow) => Promise<T | null>,
): Promise<T> => {
  const reread = ({ tenant_id: tenantId, app_id: appId, _id }: WebhookRow) => endpoints.find(tenantId, appId, _id);
  return writeAsIs({ what: "webhook", found, reread, attempt });
};
