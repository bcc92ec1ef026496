import type { Clock } from "#core/domain/clock.ts";
import { sampleEvent } from "#core/domain/events/sample.ts";
import { maxEventBytes, textWithin } from "#core/domain/events/text.ts";
import { batchesOf, contentTypeOf } from "#core/domain/webhooks/body.ts";
import { failedConditions } from "#core/domain/webhooks/filter.ts";
import { invalid } from "#core/errors.ts";
import type { BodyTemplates } from "#core/runtime/templates/body-templates.ts";
import type { BatchEnvelope, EventEnvelope } from "#core/schema/events/envelope.ts";
import type { PreviewWebhook, WebhookPreviewResult } from "#core/schema/webhooks/webhook.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { checkFilters } from "./checks.ts";

type PreviewDeps = { limit: NarrowLimit; clock: Clock; templates: Pick<BodyTemplates, "render"> };

/** What an endpoint with these settings would be sent for an event. Nothing is stored or sent. */
export const previewWebhook =
  ({ limit, clock, templates }: PreviewDeps) =>
  async (app: AppRow, body: PreviewWebhook): Promise<WebhookPreviewResult> => {
    checkData(body.data);
    checkFilters(body.filters);
    await limit("webhooks.preview", app._id);
    const {
      body_template: template = null,
      body_content_type: contentType = "application/json",
      filters = null,
    } = body;
    const event = eventOf(app, body, clock.now());
    const { envelope, text } = sentOf(event, body);
    const failed = failedConditions(filters, event);
    const rendered = template === null ? { body: text } : await templates.render(template, contentType, envelope);
    return {
      payload: { ...envelope },
      matched: failed.length === 0,
      failed_conditions: failed,
      body: "body" in rendered ? rendered.body : (rendered.output ?? null),
      content_type: contentTypeOf(template, contentType),
      error: "error" in rendered ? rendered.error : null,
    };
  };

/** Filters look at every item of a list, here where other requests wait. */
const checkData = (data: PreviewWebhook["data"]): void => {
  if (data === undefined || Buffer.byteLength(JSON.stringify(data)) <= maxEventBytes) return;
  throw invalid("data", `must be at most ${maxEventBytes} bytes of JSON`);
};

const eventOf = (app: AppRow, { event_type: kind, data }: PreviewWebhook, now: Date): EventEnvelope => {
  const sample = sampleEvent(kind, app._id, now);
  return data === undefined ? sample : { ...sample, subject_id: null, data: { ...data } };
};

/** As it would leave: cut to its largest size, and alone in a batch where batches are asked for. */
const sentOf = (
  event: EventEnvelope,
  { batch = false }: PreviewWebhook,
): { envelope: EventEnvelope | BatchEnvelope; text: string } => {
  const [only] = batch && event.type.startsWith("delivery.") ? batchesOf([event]) : [];
  if (only !== undefined) return only;
  const text = textWithin(event);
  return { envelope: JSON.parse(text) as EventEnvelope, text }; // sound: it was just written
};
