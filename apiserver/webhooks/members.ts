import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { CreateWebhook, UpdateWebhook } from "#core/schema/webhooks/webhook.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";

type WrittenMembers = Partial<Omit<CreateWebhook, "headers">> & Pick<UpdateWebhook, "headers" | "status">;

/** The members of the document that a body sets, headers sealed. What it leaves out is left out; its status is not set. */
export const membersOf = ({ seal }: Pick<KeyRing, "seal">, id: string, body: WrittenMembers): Partial<WebhookRow> => {
  const { headers, event_filters: filters, status: _, ...plain } = body;
  return {
    ...plain,
    ...(filters !== undefined && { event_names: filters.event_names ?? [], audience: filters.audience ?? null }),
    ...(headers !== undefined && {
      headers: Object.entries(headers ?? {}).map(([name, value]) => ({
        name,
        value: seal(value, `webhooks/${id}/headers/${name}`),
      })),
    }),
  };
};
