import type { Clock } from "#core/domain/clock.ts";
import { isSessionOpen } from "#core/domain/people/session.ts";
import type { Gate } from "./gate.ts";

/** On WhatsApp nothing but a template may be sent once a person has been silent for a day. */
export const session =
  (clock: Clock): Gate =>
  ({ content: { whatsapp_template: template } }) =>
  ({ channel, session_expires_at: expiresAt }) => {
    if (channel !== "whatsapp" || template !== undefined) return null;
    return isSessionOpen(expiresAt, clock.now()) ? null : "session_closed";
  };
