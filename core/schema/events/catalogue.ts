import { accountEvents, campaignEvents, journeyEvents } from "./account.ts";
import { deliveryEvents, inAppEvents, messageEvents } from "./messages.ts";
import { customEvents, subscriptionEvents, userEvents } from "./people.ts";
import type { EventType } from "./refs.ts";

const all = {
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

/**
 * The 32 kinds of events with the schema of their `data`; every list of kinds follows from it.
 * Source: docs/reference/events.md#kinds.
 */
export const eventTypes: Readonly<Record<keyof typeof all, EventType>> = all;
