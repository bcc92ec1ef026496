import { type Static, Type } from "typebox";
import type { Clock } from "#core/domain/clock.ts";
import { longestTestMs } from "#core/domain/webhooks/test.ts";
import { AppError, NotFound, Unavailable } from "#core/errors.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { parser } from "#core/schema/json/parser.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookHistory } from "#core/storage/webhooks/history.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { existing } from "../http/locate.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { LateNats } from "../publishing/late-nats.ts";

type TestDeps = {
  history: Pick<WebhookHistory, "find">;
  limit: NarrowLimit;
  nats: Pick<LateNats, "ask">;
  subjects: Pick<Subjects, "webhookTests">;
  clock: Clock;
};

const marginMs = 2_000;

/** Has a dispatcher make one request to an endpoint now, once for each event; how that went is in the delivery. */
export const testWebhook =
  ({ history, limit, nats, subjects, clock }: TestDeps) =>
  async (endpoint: WebhookRow, event: { id: string; at: Date | null }): Promise<WebhookDeliveryRow> => {
    await limit("webhooks.test", endpoint._id);
    const timeoutMs = Math.min(endpoint.timeout_ms, longestTestMs) + marginMs;
    const asked = { endpoint_id: endpoint._id, event: { id: event.id, at: event.at ?? clock.now() } };
    const reply = read(await nats.ask(subjects.webhookTests(), asked, timeoutMs));
    switch (reply.outcome) {
      case "sent":
        return existing(await history.find(ofRow(endpoint), reply.delivery_id ?? ""), "delivery");
      case "busy":
        throw new Unavailable("a dispatcher");
      case "gone":
        throw new NotFound("webhook");
      case "failed":
        throw new AppError("HS_INTERNAL_ERROR", "the test could not be made");
    }
  };

const TestReply = Type.Object({
  outcome: Type.Enum(["sent", "busy", "gone", "failed"]),
  delivery_id: Type.Optional(Type.String()),
});

const parse: (input: unknown) => Static<typeof TestReply> = parser(TestReply);

/** What cannot be read is no fault of the caller's. */
const read = (input: unknown): Static<typeof TestReply> => {
  try {
    return parse(input);
  } catch (cause) {
    throw new Error("a dispatcher's answer to a test cannot be read", { cause });
  }
};
