import type { WebhookRow } from "#core/storage/webhooks.ts";
import { type AuditFact, type By, changeFact } from "../audit.ts";
import { webhookView } from "./views.ts";

type Verb = "created" | "updated" | "deleted" | "secret_rotated";

type Change = { before: WebhookRow; after: WebhookRow | null } | { before: null; after: WebhookRow };

/** What to tell of a change of an endpoint. */
export const webhookFact = (by: By, verb: Verb, { before, after }: Change, now: Date): AuditFact => {
  const { _id: id, app_id: appId } = before ?? after;
  const view = (row: WebhookRow | null) => row && webhookView(row, now);
  return changeFact(by, { type: "webhook", id, appId, verb, before: view(before), after: view(after) });
};
