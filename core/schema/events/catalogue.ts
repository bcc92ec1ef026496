import { accountEvents, campaignEvents, journeyEvents } from "./account.ts";
import type { EventKind } from "./envelope.ts";
import { deliveryEvents, inAppEvents, messageEvents } from "./messages.ts";
import { customEvents, subscriptionEvents, userEvents } from "./people.ts";
import type { EventType } from "./refs.ts";

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
