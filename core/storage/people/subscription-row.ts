import type { CameAndWent } from "../../domain/people/came-back.ts";
import type { OutboxEvent } from "../../schema/events/envelope.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import type { CollectionSpec } from "../mongo/collection.ts";
import { changeIndex } from "../warehouse/change-index.ts";
import { type DueWork, dueIndex } from "../work/due.ts";

export type SubscriptionStatus = "subscribed" | "unsubscribed" | "invalid";

/** One device, browser or address of a user. (app, channel, token) is unique. */
export type SubscriptionRow = DueWork &
  CameAndWent & {
    _id: string;
    tenant_id: string;
    app_id: string;
    user_id: string;
    external_id: string | null;
    channel: Channel;
    token: string;
    web: { p256dh: string; auth: string } | null;
    status: SubscriptionStatus;
    /** Why it is not `subscribed`: an error code, `opt_out`, `api`. */
    status_reason: string | null;
    /** Its own; null when it has none and speaks its user's, whatever that is by then. */
    language: string | null;
    test_device: boolean;
    device: Record<string, string>;
    /** Of a device that registered itself: what its installation calls itself, and the SHA-256 (hex) of its secret. */
    install?: { id: string; secret_hash: string };
    /** Since when it is its user's because a device said so, without an identity token; absent or null: something proves it. */
    unproven_since?: Date | null;
    /** What it said last of its permission. */
    status_detail?: number;
    /** The number at the app's icon, as far as it is known here; absent until it was set or counted. */
    badge?: number;
    /** The last messages that were added to `badge`. */
    badge_counted?: string[];
    last_active_at: Date;
    unsubscribed_at: Date | null;
    /** On WhatsApp: until when the person may be sent anything. Source: docs/reference/whatsapp.md#sessions. */
    session_expires_at?: Date | null;
    /** On WhatsApp: when the person wrote last by way of an advertisement. */
    ad_clicked_at?: Date | null;
    /** The end of the session that the first answer to that opened. */
    ad_session_until?: Date | null;
    /** When mail bounced for now, since the last that came through; absent when none did. */
    soft_bounces?: Date[];
    /** When a provider said, not for sure, that nobody is reached there, since something came through. */
    unreachable?: Date[];
    created_at: Date;
    updated_at: Date;
    /** Events that may not have been published yet. */
    outbox: OutboxEvent[];
  };

export const subscriptionCollection: CollectionSpec = {
  name: "subscriptions",
  indexes: [
    { key: { app_id: 1, channel: 1, token: 1 }, name: "token", unique: true },
    { key: { app_id: 1, user_id: 1 }, name: "user" },
    { key: { app_id: 1, _id: 1 }, name: "app" },
    { key: { app_id: 1, channel: 1, status: 1, _id: 1 }, name: "audience" },
    {
      key: { app_id: 1, channel: 1, status: 1, _id: 1 },
      name: "test_audience",
      partialFilterExpression: { test_device: true },
    },
    {
      key: { app_id: 1, "install.secret_hash": 1 },
      name: "secret",
      partialFilterExpression: { "install.secret_hash": { $gt: "" } },
    },
    changeIndex, // for warehouse exports: docs/decisions/0126
    dueIndex,
  ],
  owner: { kind: "user", member: "user_id" },
  appRemoval: { index: "user" },
  erasure: { member: "user_id" },
  retention: { kept: "until it or its user is deleted" },
};
