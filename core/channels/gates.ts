import { isSessionOpen } from "../domain/people/session.ts";
import type { Content, Options, Target } from "../schema/messages/notification.ts";
import type { Channel } from "../schema/vocabulary/channels.ts";
import { mayReachUnsubscribed } from "./content.ts";

/** What of a message and of a recipient decides. */
type Said = { content: Content; options: Options; target: Target };
type To = {
  channel: Channel;
  status: "subscribed" | "unsubscribed" | "invalid";
  test_device: boolean;
  session_expires_at?: Date | null;
};

/**
 * What decides by the message, the recipient and the time alone whether somebody is left out, each with its reason or null.
 * The dispatcher asks right before a send (`dispatcher/messages/gates`), and the apiserver when it explains
 * (`apiserver/why/gates`). A gate of this kind is added here, and in both lists.
 */
export const recipientGates = {
  /** The state of the subscription may have changed since the audience was read. */
  subscription: ({ options }: Said, { status, channel }: To): "invalid_subscription" | "unsubscribed" | null => {
    if (status === "invalid") return "invalid_subscription";
    return status === "unsubscribed" && !mayReachUnsubscribed(channel, options) ? "unsubscribed" : null;
  },

  /** A device may have ceased to be a test device since the audience was read. */
  testDevice: ({ target }: Said, { test_device: isTestDevice }: To): "not_test_device" | null =>
    target.test_devices_only === true && !isTestDevice ? "not_test_device" : null,

  /** On WhatsApp nothing but a template may be sent once a person has been silent for a day. */
  session: (
    { content: { whatsapp_template: template } }: Said,
    { channel, session_expires_at: expiresAt }: To,
    now: Date,
  ): "session_closed" | null => {
    if (channel !== "whatsapp" || template !== undefined) return null;
    return isSessionOpen(expiresAt, now) ? null : "session_closed";
  },
};
