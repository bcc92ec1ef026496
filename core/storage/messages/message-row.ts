import type { LiveActivityPush } from "../../channels/kit/live-activity.ts";
import type { Measured } from "../../domain/experiments/effect.ts";
import type { TimingCounts } from "../../domain/messages/gain.ts";
import type { Cancelled } from "../../domain/messages/timeline.ts";
import type { MessageAim } from "../../domain/segments/aim.ts";
import type { OutboxEvent } from "../../schema/events/envelope.ts";
import type { Counts, CreateNotificationResult, Message } from "../../schema/messages/message.ts";
import type { Content, Options, Target } from "../../schema/messages/notification.ts";
import type { Verdict, Winner } from "../../schema/messages/winner.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import type { DueWork, SuspendedWork } from "../work/due.ts";
import type { Reserved } from "./usage.ts";

export type MessageStatus = Message["status"];
export type MessageSource = Message["source"];

/** Nothing more is done for a message in one of these. */
export const endedStatuses = ["completed", "failed", "cancelled"] as const satisfies readonly MessageStatus[];

/** What is true of a message that has nothing left to do but to publish its events. */
export const messageIsDone = {
  status: { $in: [...endedStatuses] },
  recount: { $ne: true },
  unsettled: { $exists: false },
  withdraws: { $ne: true },
} as const;

/**
 * What a message does to a live activity; its alert is the message's content. Source: docs/reference/live-activities.md#sends.
 */
export type MessageActivity = Omit<LiveActivityPush, "at" | "channel"> & {
  /** The id of the activity's document. */
  activity: string;
  type_id: string;
  /** The broadcast channel that its devices are subscribed to; its updates are one request. */
  channel?: { id: string; apns_channel_id: string; stores_latest: boolean };
  /** A newer change had begun: no device is to get this one, or no further one. */
  is_superseded?: true;
};

/** One of several forms: `content` is what it says otherwise than the message. */
export type MessageVariant = {
  id: string;
  name: string;
  weight_percent: number;
  is_control: boolean;
  content: Content;
};

/** Part of an audience tries the variants; once `decided_at` is there the rest gets `chosen`, null for nothing. */
export type MessageWinner = Winner & {
  decides_at: Date;
  decided_at?: Date;
  chosen?: string | null;
  verdict?: Verdict;
  /** Of the rule `bandit`: the weights of the variants that are sent, by the step that they are of. */
  steps?: Record<string, number[]>;
  /** What its first look found of the division. */
  p_srm?: number;
};

/**
 * A notification as accepted: one document, written once, then changed by the holder of its lease.
 * `due_at` is its timer (`send_after`) while queued and its safety net while processing; null when it has ended
 * and `outbox` is empty.
 */
export type MessageRow = DueWork &
  SuspendedWork & {
    _id: string;
    tenant_id: string;
    app_id: string;
    /** The tenant's plan when accepted: the stream that its hints go to. */
    plan: string;
    source: MessageSource;
    status: MessageStatus;
    /** Absent (not null) without a key, so that the unique index leaves the document out. */
    idempotency_key?: string;
    /** What its key is unique within, besides the app; absent for `POST /v1/notifications`. */
    operation?: string;
    /** SHA-256 of the canonical body, hex. */
    fingerprint: string;
    /** The reply of the accept, for replays. */
    accepted: Omit<CreateNotificationResult, "id" | "status">;
    name: string | null;
    labels: string[];
    category: string | null;
    content: Content;
    /** The template that it takes, in the version of its accept; absent without one. */
    template_id?: string;
    template_version?: number;
    /** What it is a part of, as its caller names it; absent without one. */
    campaign_id?: string;
    /** The conversation that it is a reply in: somebody waits for it. */
    conversation_id?: string;
    /** What `email_mjml` became when the message was accepted; absent without one. */
    email_html?: string;
    target: Target;
    /** What its target says by segments and a filter, as it was when the message was accepted; absent when it says nothing. */
    aim?: MessageAim;
    /** Ids of the segments in `aim`. */
    segment_ids?: string[];
    /** The channels it goes over, decided at accept: those asked for, else those that have content and an account. */
    channels: Channel[];
    options: Options;
    /** Sends a minute at most, by its options or its app's default when it was accepted; absent: as many as can be. */
    throttle_per_minute?: number;
    /** Its forms, each for a part of the audience, in the order of the request; absent: it has one form. */
    variants?: MessageVariant[];
    /** Counters by variant, made with `counts`. */
    variant_counts?: Record<string, Counts>;
    /** Of an optimised one: the hour of the day in which people do most; null when nothing is known of any. */
    common_hour?: number | null;
    /** Of an optimised one, once it has ended: counters of those sent to in their own hour, and of the control. */
    timing_counts?: TimingCounts;
    /** What people did after it, compared with who got nothing; absent before any of them converted. */
    effect_counts?: Measured[];
    /** Grows with each conversion that `effect_counts` may lack. */
    measured?: number;
    /** How the form is found that the rest of its audience gets; absent: all are sent to at once. */
    winner?: MessageWinner;
    /** Of one that starts, updates or ends a live activity. */
    live_activity?: MessageActivity;
    counts: Counts;
    /** When all counters were last made from the deliveries; absent before the end. */
    counted_at?: Date;
    /** They may be wrong, and are to be made from the deliveries again, because a receipt changed one of these. */
    recount?: true;
    requested_by: Message["requested_by"];
    /** Of one that was cancelled; absent where that was before it was kept. */
    cancelled_by?: Cancelled;
    error: string | null;
    /** Deliveries reserved at accept; null when nothing limits them. */
    reserved: Reserved | null;
    /** Once it has ended: what of `reserved` it did not use, or (negative) used beyond it, until that is given back. */
    unsettled?: number;
    /** Of one that was cancelled: its deliveries that wait are to be cancelled, too. */
    withdraws?: true;
    /** Of one with `fallback`: when it first went over the channel of each step, by its position. */
    fell_back?: Record<string, Date>;
    /** The latest pieces of work that reserved more for a fallback: each does once. */
    fell_back_by?: string[];
    /** Whether the audience has been read to its end. */
    planned: boolean;
    scheduled_for: Date | null;
    started_at: Date | null;
    /** Of one that is sent by chunks: when the first of them began. Until then it may be cancelled. */
    dispatched_at?: Date;
    /** Of one that is sent in one turn, and waits: nothing was handed to a provider, and it may be cancelled. */
    waits?: true;
    completed_at: Date | null;
    created_at: Date;
    updated_at: Date;
    /** Events of this document that may not have been published yet. */
    outbox: OutboxEvent[];
    /** W3C trace context of the request that made it. */
    traceparent: string | null;
  };
