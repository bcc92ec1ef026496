import { recipientGates } from "#core/channels/gates.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Gate } from "./gate.ts";

/** On WhatsApp nothing but a template may be sent once a person has been silent for a day. */
export const session =
  (clock: Clock): Gate =>
  (message) =>
  (recipient) =>
    recipientGates.session(message, recipient, clock.now());
