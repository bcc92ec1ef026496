import type { Clock } from "#core/domain/clock.ts";
import type { DeviceEvent, DeviceEvents } from "#core/schema/devices/reports.ts";
import type { CustomEvent, EventsAccepted } from "#core/schema/events/custom.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Device } from "../access/device.ts";
import type { EventUse } from "../events/use-cases.ts";
import { notAhead } from "./receipts.ts";

/** Accepts events of the person whose device it is. An id counts once for each device. @throws Unavailable */
export const publishOfDevice =
  ({ publish, clock }: { publish: EventUse["publish"]; clock: Clock }) =>
  (
    { app }: Device,
    own: SubscriptionRow,
    { events, traceparent }: DeviceEvents & { traceparent: string },
  ): Promise<EventsAccepted> => {
    const now = clock.now();
    const body = { events: events.map((event) => ofPerson(event, own, now)) };
    return publish({ app, body, traceparent, onceId: null, source: "sdk" });
  };

const ofPerson = ({ occurred_at: at, ...event }: DeviceEvent, own: SubscriptionRow, now: Date): CustomEvent => ({
  ...event,
  id: `${own._id}/${event.id}`,
  user_id: own.user_id,
  subscription_id: own._id,
  ...(at !== undefined && { occurred_at: notAhead(at, now).toISOString() }),
});
