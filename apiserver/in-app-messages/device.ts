import type { Clock } from "#core/domain/clock.ts";
import { derivedId, newId } from "#core/domain/ids.ts";
import { shownTo } from "#core/domain/in-app-messages/shown.ts";
import { instantOf } from "#core/domain/iso-instant.ts";
import { invalid } from "#core/errors.ts";
import type { EventKind } from "#core/schema/events/envelope.ts";
import type {
  InAppEvent,
  InAppEventAccepted,
  InAppForDevice,
  InAppForDeviceQuery,
} from "#core/schema/in-app-messages/device.ts";
import type { InAppCounts } from "#core/storage/in-app-messages/counts.ts";
import type { InAppEventRow, InAppEvents } from "#core/storage/in-app-messages/events.ts";
import type { inAppFor } from "#core/storage/in-app-messages/for-device.ts";
import type { InAppMessageRow } from "#core/storage/in-app-messages/in-app-messages.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { givenEvent } from "../publishing/claim-events.ts";
import type { EventStore } from "../publishing/event-store.ts";

export type DeviceDeps = {
  messagesFor: ReturnType<typeof inAppFor>;
  counts: Pick<InAppCounts, "add">;
  happened: Pick<InAppEvents, "keep">;
  keep: EventStore["keep"];
  clock: Clock;
};

/** What devices do with in-app messages. Source: docs/reference/in-app-messages.md#devices. */
export const deviceInApp = ({ messagesFor, counts, happened, keep, clock }: DeviceDeps) => ({
  /** Those that this device may show now, decided as it asks. */
  fetch: async (subscription: SubscriptionRow, { since }: InAppForDeviceQuery): Promise<InAppForDevice> => {
    const now = clock.now();
    const found = await messagesFor(subscription, now);
    const language = subscription.language ?? found?.person.language ?? null;
    const all = (found?.rows ?? []).toSorted(inOrder).flatMap((row) => {
      const shown = shownTo(row, { userId: subscription.user_id, language });
      return shown === null ? [] : [{ row, shown }];
    });
    const from = since === undefined ? null : instantOf(since);
    const changed = all.filter(({ row }) => from === null || changedAt(row) >= from);
    return {
      messages: changed.map(({ row, shown }) => ({ ...ruleOf(row), ...shown })),
      ids: all.map(({ row }) => row._id),
      as_of: now.toISOString(),
    };
  },

  /** Keeps and counts what a person did with a message. @throws ValidationError */
  report: async (
    {
      subscription,
      message,
      traceparent,
    }: { subscription: SubscriptionRow; message: InAppMessageRow; traceparent: string },
    body: InAppEvent,
  ): Promise<InAppEventAccepted> => {
    checkEvent(message, body);
    const { tenant_id: tenantId, app_id: appId } = subscription;
    const now = clock.now();
    const id =
      body.id === undefined ? newId("event", now) : derivedId("event", appId, subscription._id, message._id, body.id);
    const event = {
      id,
      type: kinds[body.type],
      timestamp: now.toISOString(),
      app_id: appId,
      subject_id: subscription._id,
      api_version: "1.0" as const,
      data: dataOf(subscription, message, body),
    };
    await happened.keep(rowOf(subscription, message, { id, at: now, body })); // first: a repeat of what was told stops here
    const once = body.id !== undefined && id;
    const repeats = await keep({ tenantId, appId, traceparent, events: [givenEvent(event, once)] });
    if (repeats > 0) return { event_id: id };
    const { variant_id: variantId, type, first: isFirst = false } = body;
    await counts.add({ tenantId, appId, messageId: message._id, variantId, type, isFirst });
    return { event_id: id };
  },
});

const rowOf = (
  { _id, tenant_id, app_id, user_id, external_id, channel }: SubscriptionRow,
  message: InAppMessageRow,
  { id, at, body }: { id: string; at: Date; body: InAppEvent },
): InAppEventRow => ({
  _id: id,
  tenant_id,
  app_id,
  message_id: message._id,
  variant_id: body.variant_id,
  subscription_id: _id,
  user_id,
  external_id,
  channel,
  type: body.type,
  page_id: body.page_id ?? null,
  click_id: body.click_id ?? null,
  at,
});

const inOrder = (a: InAppMessageRow, b: InAppMessageRow): number =>
  b.priority - a.priority || a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1);

/** A message whose time has come is new to devices, too. */
const changedAt = ({ updated_at: updated, start_at: start }: InAppMessageRow): Date =>
  start !== null && start > updated ? start : updated;

const ruleOf = ({ _id, triggers, redisplay, priority, ...row }: InAppMessageRow) => ({
  id: _id,
  triggers,
  redisplay,
  priority,
  start_at: row.start_at?.toISOString() ?? null,
  end_at: row.end_at?.toISOString() ?? null,
  updated_at: row.updated_at.toISOString(),
});

const kinds = {
  impression: "in_app.impression",
  page_impression: "in_app.impression",
  clicked: "in_app.clicked",
  dismissed: "in_app.dismissed",
} as const satisfies Record<InAppEvent["type"], EventKind>;

const checkEvent = ({ variants }: InAppMessageRow, { type, variant_id, page_id, click_id }: InAppEvent): void => {
  if (!variants.some(({ id }) => id === variant_id)) throw invalid("variant_id", "is no variant of the message");
  if (type === "page_impression" && (page_id ?? null) === null)
    throw invalid("page_id", "is required with the type page_impression");
  if (type === "clicked" && (click_id ?? null) === null) throw invalid("click_id", "is required with the type clicked");
  if (type !== "clicked" && (click_id ?? null) !== null) throw invalid("click_id", "is only of the type clicked");
};

const dataOf = (
  subscription: SubscriptionRow,
  message: InAppMessageRow,
  body: InAppEvent,
): Record<string, unknown> => ({
  message_id: null, // it follows from no notification
  campaign_id: null,
  journey_id: null,
  delivery_id: null,
  subscription_id: subscription._id,
  user_id: subscription.user_id,
  external_id: subscription.external_id,
  channel: subscription.channel,
  in_app_message_id: message._id,
  variant_id: body.variant_id,
  page_id: body.page_id ?? null,
  click_id: body.click_id ?? null,
});
