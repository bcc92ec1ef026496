import { type Static, Type } from "typebox";
import { AppError, NotFound, Unavailable } from "#core/errors.ts";
import { parser } from "#core/schema/parser.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhook-deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks.ts";
import type { WebhookDeps } from "./deps.ts";

export type TestDeps = Pick<WebhookDeps, "history" | "limit"> & {
  /** Asks a dispatcher to test an endpoint. @throws Unavailable when none answers in time */
  askForTest: (endpointId: string, timeoutMs: number) => Promise<unknown>;
};

const perMinute = 10;
const marginMs = 2_000;

/** Has a dispatcher make one request to an endpoint now; how that went is in the delivery. */
export const testWebhook =
  ({ history, limit, askForTest }: TestDeps) =>
  async (endpoint: WebhookRow): Promise<WebhookDeliveryRow> => {
    await limit("webhooks.test", endpoint._id, perMinute);
    const reply = parseReply(await askForTest(endpoint._id, endpoint.timeout_ms + marginMs));
    switch (reply.outcome) {
      case "sent":
        return found(await history.find(endpoint.tenant_id, endpoint.app_id, reply.delivery_id ?? ""));
      case "busy":
        throw new Unavailable("a dispatcher");
      case "gone":
        throw new NotFound("webhook");
      case "failed":
        throw new AppError("HS_INTERNAL_ERROR", "the test could not be made");
    }
  };

const found = (row: WebhookDeliveryRow | null): WebhookDeliveryRow => {
  if (row === null) throw new NotFound("webhook");
  return row;
};

const TestReply = Type.Object({
  outcome: Type.Enum(["sent", "busy", "gone", "failed"]),
  delivery_id: Type.Optional(Type.String()),
});

const parseReply: (input: unknown) => Static<typeof TestReply> = parser(TestReply);
