import type { Db } from "mongodb";
import { dateOf } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import type { Cell } from "#core/domain/exports/csv.ts";
import { eventIdOf, type Happened, happenedTo } from "#core/domain/exports/message-events.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { ExportFilters, MessageEvent } from "#core/schema/exports/export.ts";
import { conversions } from "#core/storage/events/conversions.ts";
import type { OfCampaign } from "#core/storage/exports/pages.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import { pagesOfCampaign } from "./deliveries.ts";
import { inAppPages } from "./in-app-events.ts";
import type { MessageEventRow } from "./message-event-row.ts";
import type { ExportSource } from "./type.ts";

type EventRow = MessageEventRow;

const isRefusal = (event: MessageEvent): boolean => event === "failed" || event === "errored" || event === "bounced";

const isOfDelivery = (row: EventRow): row is Extract<EventRow, { delivery: OfCampaign }> =>
  row.conversion === undefined && row.inApp === undefined;

/** What of a delivery is about why it was refused stands in the rows that say so. */
const refused =
  <T>(of: (delivery: DeliveryRow) => T) =>
  (row: EventRow): T | null =>
    isOfDelivery(row) && isRefusal(row.event) ? of(row.delivery) : null;

/** What of a delivery is about one kind of event stands in the rows of that kind. */
const only =
  <T>(kind: MessageEvent, of: (delivery: DeliveryRow) => T) =>
  (row: EventRow): T | null =>
    isOfDelivery(row) && row.event === kind ? of(row.delivery) : null;

/** One row for each thing that happened to a delivery; `from` and `to` are of the instant at which it happened. */
export const messageEvents: ExportSource<EventRow> = {
  columns: [
    { name: "id", of: idOf },
    { name: "message_id", of: ({ delivery }) => delivery.message_id },
    { name: "campaign_id", of: ({ delivery }) => delivery.campaign_id },
    { name: "variant_id", of: ({ delivery }) => delivery.variant_id },
    { name: "delivery_id", of: ({ delivery, inApp }) => (inApp === undefined ? delivery._id : null) },
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
    {
      name: "button_id",
      of: (row) => row.inApp?.click_id ?? only("clicked", ({ clicked_button_id }) => clicked_button_id)(row),
    },
    { name: "machine", of: ({ isOfMachine }) => isOfMachine === true },
    { name: "sms_segments", of: only("sent", ({ sms_segments }) => sms_segments) },
    { name: "properties", of: propertiesOf },
    { name: "created_at", of: ({ delivery }) => delivery.created_at },
  ],
  async *pages(db, of, filters) {
    const { message_id: messageId, channel } = filters;
    const reading = { messageId, times: {}, filter: defined({ channel }), members: deliveryMembers };
    for await (const page of pagesOfCampaign(db, of, filters, reading)) {
      yield [...eventsIn(page, filters), ...(await conversionsIn(db, of, page, filters))];
    }
    yield* inAppIn(db, of, filters);
  },
};

/** That of the webhook event that tells of the same, where there is one. */
function idOf(row: EventRow): string {
  if (row.inApp !== undefined) return row.inApp._id;
  return row.conversion === undefined
    ? eventIdOf(row.delivery, row)
    : derivedId("event", "conversion.created", row.conversion.event_id);
}

/** Such a row by the names of its columns. */
export const messageEventDocument = (row: MessageEventRow): Record<string, Cell> & { _id: string } => ({
  ...Object.fromEntries(messageEvents.columns.map(({ name, of }) => [name, of(row)])),
  _id: idOf(row),
});

function propertiesOf({ conversion, inApp }: EventRow): object {
  if (inApp !== undefined) return inApp.page_id === null ? {} : { page_id: inApp.page_id };
  if (conversion === undefined) return {};
  const { event_name: name, value, attribution } = conversion;
  return { name, value, attribution };
}

/** Custom events that count for the deliveries of a page: of these there may be several each. */
const conversionsIn = async (
  db: Db,
  of: OfApp,
  page: readonly OfCampaign[],
  filters: ExportFilters,
): Promise<EventRow[]> => {
  const isAsked = isWantedBy(filters);
  if (!isAsked.of("converted")) return [];
  const deliveries = new Map(page.map((delivery) => [delivery._id, delivery]));
  const found = await conversions(db).ofDeliveries(of, [...deliveries.keys()]);
  return found.flatMap((conversion) => {
    const delivery = deliveries.get(conversion.delivery_id ?? "");
    const happened = { event: "converted" as const, at: conversion.occurred_at };
    return delivery === undefined || !isAsked.happened(happened) ? [] : [{ ...happened, delivery, conversion }];
  });
};

async function* inAppIn(db: Db, of: OfApp, filters: ExportFilters): AsyncGenerator<EventRow[]> {
  const isAsked = isWantedBy(filters);
  const kinds = ["in_app_impression", "in_app_clicked", "in_app_dismissed"] as const;
  if (!kinds.some(isAsked.of)) return;
  for await (const page of inAppPages(db, of, filters)) yield page.filter(isAsked.happened);
}

/** What of a delivery these rows show. */
export const deliveryMembers = [
  "message_id",
  "variant_id",
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
  "machine_opened_at",
  "machine_clicked_at",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof DeliveryRow)[];

/** What filters leave: of kinds, and of what happened. */
const isWantedBy = ({ status, events, from, to }: ExportFilters) => {
  const [first, last] = [dateOf(from), dateOf(to)];
  const of = (event: MessageEvent): boolean =>
    (status === undefined || event === status) && (events === undefined || events.includes(event));
  const happened = ({ event, at }: Happened): boolean =>
    of(event) && (first === undefined || at >= first) && (last === undefined || at <= last);
  return { of, happened };
};

const eventsIn = (page: readonly OfCampaign[], filters: ExportFilters): EventRow[] => {
  const isAsked = isWantedBy(filters);
  return page.flatMap((delivery) =>
    happenedTo(delivery)
      .filter(isAsked.happened)
      .map((happened) => ({ ...happened, delivery })),
  );
};
