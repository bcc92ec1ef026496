import { dateOf } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import { eventIdOf, type Happened, happenedTo } from "#core/domain/exports/message-events.ts";
import type { ExportFilters, MessageEvent } from "#core/schema/exports/export.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { pagesOfCampaign } from "./deliveries.ts";
import type { ExportSource } from "./type.ts";

type EventRow = Happened & { delivery: DeliveryRow };

const isRefusal = (event: MessageEvent): boolean => event === "failed" || event === "errored" || event === "bounced";

/** What of a delivery is about why it was refused stands in the rows that say so. */
const refused =
  <T>(of: (delivery: DeliveryRow) => T) =>
  ({ event, delivery }: EventRow): T | null =>
    isRefusal(event) ? of(delivery) : null;

/** What of a delivery is about one kind of event stands in the rows of that kind. */
const only =
  <T>(kind: MessageEvent, of: (delivery: DeliveryRow) => T) =>
  ({ event, delivery }: EventRow): T | null =>
    event === kind ? of(delivery) : null;

/** One row for each thing that happened to a delivery; `from` and `to` are of the instant at which it happened. */
export const messageEvents: ExportSource<EventRow> = {
  columns: [
    { name: "id", of: ({ delivery, ...happened }) => eventIdOf(delivery, happened) },
    { name: "message_id", of: ({ delivery }) => delivery.message_id },
    { name: "campaign_id", of: () => null }, // no delivery has a campaign yet
    { name: "variant_id", of: () => null }, // nor a variant
    { name: "delivery_id", of: ({ delivery }) => delivery._id },
    { name: "subscription_id", of: ({ delivery }) => delivery.subscription_id },
    { name: "user_id", of: ({ delivery }) => delivery.user_id },
    { name: "external_id", of: ({ delivery }) => delivery.external_id },
    { name: "channel", of: ({ delivery }) => delivery.channel },
    { name: "event", of: ({ event }) => event },
    { name: "occurred_at", of: ({ at }) => at },
    { name: "error_code", of: refused(({ error_code }) => error_code) },
    { name: "error_message", of: refused(({ error_message }) => error_message) },
    { name: "provider_code", of: refused(({ provider_code }) => provider_code) },
    { name: "suppression_reason", of: only("suppressed", ({ suppression_reason }) => suppression_reason) },
    { name: "bounce_type", of: only("bounced", ({ bounce_type }) => bounce_type) },
    { name: "url", of: only("clicked", ({ clicked_url }) => clicked_url) },
    { name: "button_id", of: only("clicked", ({ clicked_button_id }) => clicked_button_id) },
    { name: "machine", of: () => false }, // opens and clicks of programs are told by webhooks, and not kept
    { name: "sms_segments", of: only("sent", ({ sms_segments }) => sms_segments) },
    { name: "properties", of: () => ({}) },
    { name: "created_at", of: ({ delivery }) => delivery.created_at },
  ],
  async *pages(db, of, filters) {
    const { message_id: messageId, channel } = filters;
    const reading = { messageId, times: {}, filter: defined({ channel }), members };
    for await (const page of pagesOfCampaign(db, of, filters, reading)) yield eventsIn(page, filters);
  },
};

const members = [
  "subscription_id",
  "user_id",
  "external_id",
  "channel",
  "status",
  "error_code",
  "error_message",
  "provider_code",
  "suppression_reason",
  "bounce_type",
  "clicked_url",
  "clicked_button_id",
  "sms_segments",
  "sent_at",
  "delivered_at",
  "opened_at",
  "clicked_at",
  "failed_at",
  "expired_at",
  "bounced_at",
  "complained_at",
  "unsubscribed_at",
  "created_at",
] as const satisfies readonly (keyof DeliveryRow)[];

const eventsIn = (page: readonly DeliveryRow[], { status, events, from, to }: ExportFilters): EventRow[] => {
  const [first, last] = [dateOf(from), dateOf(to)];
  const isWanted = ({ event, at }: Happened): boolean =>
    (status === undefined || event === status) &&
    (events === undefined || events.includes(event)) &&
    (first === undefined || at >= first) &&
    (last === undefined || at <= last);
  return page.flatMap((delivery) =>
    happenedTo(delivery)
      .filter(isWanted)
      .map((happened) => ({ ...happened, delivery })),
  );
};
