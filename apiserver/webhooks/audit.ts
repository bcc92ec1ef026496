import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { type By, type Intended, intend } from "../settings/audit.ts";
import { webhookView } from "./views.ts";

export type Verb = "created" | "updated" | "deleted" | "secret_rotated";

type Change = { before: WebhookRow; after: WebhookRow | null } | { before: null; after: WebhookRow };

/** A change of an endpoint, and what to tell of it. */
export const webhookChange = (by: By, verb: Verb, { before, after }: Change, now: Date): Intended => {
  const { _id: id, app_id: appId } = before ?? after;
  const view = (row: WebhookRow | null) => row && webhookView(row, now);
  const type = "webhook";
  return intend(by, { type, collection: "webhooks", id, appId, verb, before: view(before), after: view(after) });
};
