import { AppError, NotFound } from "#core/errors.ts";
import type { WebhookRow } from "#core/storage/webhooks.ts";
import { requireUnmanaged } from "../managed.ts";
import type { WebhookDeps } from "./deps.ts";

/** What a change writes, and whether the endpoint is to be looked at for it. */
export type Change = { set: Partial<WebhookRow>; isDue: boolean };

const attempts = 5; // each lost to another writer of the same endpoint

/**
 * Changes an endpoint as it is now: `decide` sees it as the write finds it, again when another was quicker.
 * @throws AppError HS_MANAGED when a resource enforces it
 */
export const changeWebhook = async (
  { endpoints, announce, ring, clock }: Pick<WebhookDeps, "endpoints" | "announce" | "ring" | "clock">,
  found: WebhookRow,
  decide: (row: WebhookRow, now: Date) => Change,
): Promise<{ before: WebhookRow; after: WebhookRow }> => {
  let row: WebhookRow | null = found;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (row === null) throw new NotFound("webhook");
    requireUnmanaged("webhook", row);
    const now = clock.now();
    const { set, isDue } = decide(row, now);
    const after = await endpoints.change(
      row,
      { ...set, updated_at: laterThan(row.updated_at, now) },
      isDue ? now : null,
    );
    if (after !== null) {
      announce(after._id);
      if (isDue) ring(after._id);
      return { before: row, after };
    }
    row = await endpoints.find(row.tenant_id, row.app_id, row._id);
  }
  throw new AppError("HS_CONFLICT", "the webhook is being changed by others at the same moment", { status: "busy" });
};

/** Grows with every change, so that it tells versions apart. */
const laterThan = (before: Date, now: Date): Date => (now > before ? now : new Date(before.getTime() + 1));
