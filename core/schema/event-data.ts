import type { EventKind } from "./event.ts";
import { accountEvents, campaignEvents, journeyEvents } from "./event-data-account.ts";
import { deliveryEvents, inAppEvents, messageEvents } from "./event-data-messages.ts";
import { customEvents, subscriptionEvents, userEvents } from "./event-data-people.ts";
import type { EventType } from "./event-refs.ts";

/** The 32 kinds of events with the schema of their `data`. Source: decisions 10.2. */
export const eventTypes: Readonly<Record<EventKind, EventType>> = {
  ...messageEvents,
  ...deliveryEvents,
  ...inAppEvents,
  ...subscriptionEvents,
  ...userEvents,
  ...customEvents,
  ...campaignEvents,
  ...journeyEvents,
  ...accountEvents,
};
