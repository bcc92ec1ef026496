import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { CreateWebhook, UpdateWebhook } from "#core/schema/webhooks/webhook.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";

type Given = Partial<Omit<CreateWebhook, "headers">> & Pick<UpdateWebhook, "headers">;

/** The members of the document that a body sets, headers sealed. What it leaves out is left out. */
export const membersOf = ({ seal }: Pick<KeyRing, "seal">, id: string, body: Given): Partial<WebhookRow> => {
  const { headers, event_filters: filters } = body;
  return {
    ...plainMembers(body),
    ...(filters !== undefined && { event_names: filters.event_names ?? [] }),
    ...(headers !== undefined && {
      headers: Object.entries(headers ?? {}).map(([name, value]) => ({
        name,
        value: seal(value, `webhooks/${id}/headers/${name}`),
      })),
    }),
  };
};

/** Those that are stored as they are given. */
const plain = [
  "url",
  "description",
  "events",
  "batch",
  "paused",
  "body_template",
  "body_content_type",
  "filters",
  "rate_per_second",
  "max_in_flight",
  "timeout_ms",
] as const satisfies readonly (keyof Given & keyof WebhookRow)[];

const plainMembers = (body: Given): Partial<WebhookRow> =>
  Object.fromEntries(plain.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]));
