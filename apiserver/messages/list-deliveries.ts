import { maskAddress } from "#core/channels/addresses.ts";
import { deliveryView, type ViewedDelivery } from "#core/domain/messages/delivery-view.ts";
import { type Delivery, type DeliveryListQuery, deliveryPaging } from "#core/schema/messages/delivery.ts";
import { type DeliveryRow, deliveryIdOf } from "#core/storage/messages/deliveries.ts";
import type { DeliveryList } from "#core/storage/messages/delivery-list.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { isOfChunk, type ScheduledList, type WaitingRecipient } from "#core/storage/messages/scheduled-list.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";

export type ListDeliveriesDeps = { deliveries: DeliveryList; scheduled: ScheduledList; cursors: Cursors };

type Read = Parameters<typeof readPage<DeliveryRow | WaitingRecipient, Delivery>>[0]["read"];

/**
 * One page of what became of the recipients of a message. Those who are scheduled and have no delivery of their own stand
 * behind all that have one. Source: docs/reference/timing.md#waiting-deliveries.
 */
export const listDeliveries =
  (deps: ListDeliveriesDeps) =>
  (message: MessageRow, query: DeliveryListQuery, signal: AbortSignal): Promise<Page<Delivery>> => {
    const stored = storedOf(deps, message, query, signal);
    return readPage<DeliveryRow | WaitingRecipient, Delivery>({
      cursors: deps.cursors,
      paging: deliveryPaging,
      list: `deliveries/${message._id}`,
      query,
      read: mayWait(message, query) ? withWaiting(deps, message, query, stored) : stored,
      positionOf: (row) => row.position,
      view: (row) => viewOf(message, row),
    });
  };

const storedOf =
  ({ deliveries }: ListDeliveriesDeps, message: MessageRow, filters: DeliveryListQuery, signal: AbortSignal): Read =>
  (page) =>
    deliveries.page({ tenantId: message.tenant_id, messageId: message._id, filters }, page, signal);

/** Only of those who are asked for by what is known of somebody who was not sent to. */
const mayWait = ({ status }: MessageRow, query: DeliveryListQuery): boolean => {
  const { user_id, external_id, error_code, suppression_reason, variant_id, from, to, uncertain } = query;
  const others = [user_id, external_id, error_code, suppression_reason, variant_id, from, to];
  return (
    status === "processing" &&
    query.status === "scheduled" &&
    uncertain !== true &&
    others.every((one) => one === undefined)
  );
};

/** First those who have a delivery, then the others; the other way round in descending order. */
const withWaiting =
  ({ scheduled }: ListDeliveriesDeps, message: MessageRow, query: DeliveryListQuery, stored: Read): Read =>
  async (page) => {
    const { after, isDescending, limit } = page;
    const { channel, subscription_id: subscriptionId } = query;
    const waiting = (place: string | null, most: number) =>
      scheduled.page(
        ofRow(message),
        { messageId: message._id, channel, subscriptionId },
        { after: place, isDescending, limit: most },
      );
    const isBehind = after !== null && isOfChunk(after);
    if (isDescending) {
      const rows = after === null || isBehind ? await waiting(after, limit) : [];
      if (rows.length >= limit) return { rows, isWhole: true };
      const found = await stored({ ...page, after: isBehind ? null : after, limit: limit - rows.length });
      return Array.isArray(found) ? [...rows, ...found] : { ...found, rows: [...rows, ...found.rows] };
    }
    if (isBehind) return { rows: await waiting(after, limit), isWhole: true };
    const found = await stored(page);
    if (Array.isArray(found) || !found.isWhole || found.rows.length >= limit) return found;
    return { ...found, rows: [...found.rows, ...(await waiting(null, limit - found.rows.length))] };
  };

const viewOf = ({ campaign_id, ...message }: MessageRow, row: DeliveryRow | WaitingRecipient): Delivery =>
  deliveryView({ ...("chunk" in row ? scheduledView(message, row) : row), ...(campaign_id && { campaign_id }) });

/** As the delivery that they would have, were it not soon. */
const scheduledView = (
  { _id, app_id }: Omit<MessageRow, "campaign_id">,
  { chunk, subscription }: WaitingRecipient,
): ViewedDelivery => ({
  _id: deliveryIdOf(_id, subscription._id),
  message_id: _id,
  app_id,
  subscription_id: subscription._id,
  user_id: subscription.user_id,
  external_id: subscription.external_id,
  channel: chunk.channel,
  address_masked: maskAddress(chunk.channel, subscription.token),
  status: "scheduled",
  attempts: 0,
  scheduled_for: chunk.scheduled_for,
  ...(chunk.zone_unknown && { time_zone_source: "app_default" as const }),
  created_at: chunk.created_at,
  updated_at: chunk.created_at,
});
