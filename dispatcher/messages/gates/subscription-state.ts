import { recipientGates } from "#core/channels/gates.ts";
import type { Gate } from "./gate.ts";

/** The state of the subscription may have changed since the audience was read. */
export const subscriptionState: Gate = (message) => (recipient) => recipientGates.subscription(message, recipient);
