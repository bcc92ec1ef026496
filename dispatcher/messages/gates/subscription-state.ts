import { mayReachUnsubscribed } from "#core/channels/content.ts";
import type { Gate } from "./gate.ts";

/** The state of the subscription may have changed since the audience was read. */
export const subscriptionState: Gate =
  ({ options }) =>
  ({ status, channel }) => {
    if (status === "invalid") return "invalid_subscription";
    return status === "unsubscribed" && !mayReachUnsubscribed(channel, options) ? "unsubscribed" : null;
  };
