import type { Registry } from "prom-client";
import { callbackProviders } from "../../channels/callbacks.ts";
import { contactChannels } from "../../schema/vocabulary/channels.ts";
import { combinations, metricsIn } from "./series.ts";

export type ApiserverMetrics = ReturnType<typeof apiserverMetrics>;

/** Rate, errors and duration of the REST interface. `route` is the route's pattern, `none` when nothing matched. */
export const apiserverMetrics = (registry: Registry) => {
  const { counterFromZero, gauge, tracedHistogram } = metricsIn(registry);
  return {
    requests: counterFromZero(
      "herald_http_requests_total",
      "requests by route, method and status",
      // of which the objective is
      combinations({ route: ["/v1/notifications"], method: ["POST"], status: ["202", "500", "503", "504"] }),
    ),
    requestSeconds: tracedHistogram(
      "herald_http_request_duration_seconds",
      "from the first byte of a request to the last of its reply",
      [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10], // the promise for accepting is p99 < 0.1 s
      ["route", "method"],
    ),
    requestsInFlight: gauge("herald_http_requests_in_flight", "requests that are being answered"),
    inboxStreams: gauge("herald_inbox_streams", "open streams of inboxes"),
    accepted: counterFromZero(
      "herald_messages_accepted_total",
      "notifications by how they were accepted (created, replayed)",
      combinations({ outcome: ["created", "replayed"] }),
    ),
    customEvents: counterFromZero(
      "herald_custom_events_total",
      "custom events by what became of them (accepted, duplicate, refused for their time, no_room: too many of their organisation wait)",
      combinations({ outcome: ["accepted", "duplicate", "refused", "no_room"] }),
    ),
    waitingEventBytes: gauge(
      "herald_waiting_event_bytes",
      "events that wait in MongoDB to be published, of all organisations, as each apiserver counted them last",
    ),
    conversationReplies: counterFromZero(
      "herald_conversation_replies_total",
      "replies and first messages in conversations that were accepted, by channel",
      combinations({ channel: contactChannels }),
    ),
    callbacks: counterFromZero(
      "herald_callbacks_total",
      "callbacks by provider and what became of them (queued, unchecked: queued until its certificate is there, answered: a handshake, or a bounce over SMTP, refused: not signed, or not taken over SMTP, unknown)",
      [
        ...combinations({ provider: callbackProviders, outcome: ["queued", "answered", "refused", "unknown"] }),
        { provider: "ses", outcome: "unchecked" },
      ],
    ),
    rateDecisions: counterFromZero(
      "herald_rate_limit_decisions_total",
      "token bucket decisions (allowed, limited) by where the bucket was (redis, local when Redis is away)",
      combinations({ decision: ["allowed", "limited"], bucket: ["redis", "local"] }),
    ),
  };
};
