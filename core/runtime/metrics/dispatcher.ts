import type { Registry } from "prom-client";
import { allDefinitions } from "../../channels/all.ts";
import { callbackProviders } from "../../channels/callbacks.ts";
import type { OutcomeKind } from "../../domain/messages/outcome.ts";
import { accountResults } from "../../schema/apps/account.ts";
import { channels } from "../../schema/vocabulary/channels.ts";
import { combinations, metricsIn } from "./series.ts";
import { webhookMetrics } from "./webhooks.ts";

export type DispatcherMetrics = ReturnType<typeof dispatcherMetrics>;

/** Rate, errors and duration of planning, sending and webhooks. */
export const dispatcherMetrics = (registry: Registry) => ({
  ...deliveryMetrics(registry),
  ...callbackMetrics(registry),
  ...jobMetrics(registry),
  ...eventMetrics(registry),
  ...webhookMetrics(registry),
});

const deliveryMetrics = (registry: Registry) => {
  const { counterFromZero, tracedHistogram } = metricsIn(registry);
  return {
    deliveries: counterFromZero(
      "herald_deliveries_total",
      "recipients by channel, provider and outcome (sent, token_invalid, retry_at, config_error, payload_error, uncertain)",
      allDefinitions.flatMap(({ name: channel, providers }) => [
        ...combinations({ channel: [channel], provider: providers, outcome: Object.keys(outcomes) }),
        { channel, provider: "none", outcome: "config_error" }, // of an app without an account that can be used
      ]),
    ),
    providerSeconds: tracedHistogram(
      "herald_provider_call_duration_seconds",
      "from handing a recipient to a provider to its outcome",
      [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30], // push services answer in 0.02-0.5 s, mail in seconds
      ["channel", "provider"],
    ),
    chunkSeconds: tracedHistogram(
      "herald_chunk_duration_seconds",
      "from taking a chunk to the storing of its last delivery",
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 120, 600], // 500 recipients at 5,000/s are 0.1 s
      ["channel"],
    ),
    planSeconds: tracedHistogram(
      "herald_plan_turn_duration_seconds",
      "one turn of planning a message",
      [0.005, 0.02, 0.05, 0.1, 0.5, 2, 10, 30], // a turn reads a few pages of 500
    ),
    firstSentSeconds: tracedHistogram(
      "herald_message_first_sent_seconds",
      "from when a message was due (accepted, or the time that it was scheduled for) until its first recipients, 500 at most, were sent to and stored",
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 600, 3_600], // the objective is 99 % within 5 s
    ),
    invalidationsHeld: counterFromZero(
      "herald_invalidations_held_total",
      "addresses that a provider called gone and that stay, because it said so of nearly all of an account",
      combinations({ channel: channels }),
    ),
    messagesEnded: counterFromZero(
      "herald_messages_ended_total",
      "notifications by the status they ended with",
      combinations({ status: ["completed", "failed"] }),
    ),
  };
};

const callbackMetrics = (registry: Registry) => {
  const { counter, counterFromZero } = metricsIn(registry);
  return {
    callbackItems: counterFromZero(
      "herald_callback_items_total",
      "what was read in callbacks, by provider: receipts by their kind, messages of people (inbound), callbacks that are not as documented (unreadable), those that came before their certificate and were not signed with it (refused), mails that are put into no conversation (mail_automatic, mail_own, mail_unaddressed, mail_unreadable, mail_not_taken)",
      [
        ...combinations({ provider: callbackProviders, kind: ["delivered", "inbound", "unreadable"] }),
        { provider: "ses", kind: "refused" },
      ],
    ),
    unmatchedReceipts: counter(
      "herald_receipts_unmatched_total",
      "receipts that were given up, as their delivery was not stored within a quarter of an hour",
    ),
  };
};

const eventMetrics = (registry: Registry) => {
  const { counterFromZero } = metricsIn(registry);
  return {
    storedEvents: counterFromZero(
      "herald_stored_events_total",
      "custom events that were stored and counted (stored), or that had been before (known)",
      combinations({ outcome: ["stored", "known"] }),
    ),
    conversions: counterFromZero(
      "herald_conversions_total",
      "custom events that counted as conversions, by what led to them (direct, influenced, unattributed)",
      combinations({ attribution: ["direct", "influenced", "unattributed"] }),
    ),
  };
};

const jobMetrics = (registry: Registry) => {
  const { counter, counterFromZero, histogram } = metricsIn(registry);
  return {
    accountChecks: counterFromZero(
      "herald_account_checks_total",
      "connection tests of apps' accounts by channel and result (verified, refused, unreached)",
      combinations({ channel: channels, result: accountResults }),
    ),
    jobs: counter(
      "herald_jobs_total",
      "runs of jobs by type and result: done, again (more is due later), halted (it went on later: others' turn, a stop, a lost lease), failed",
      ["type", "result"],
    ),
    jobItems: counter(
      "herald_job_items_total",
      "what jobs have worked through, such as documents removed or erased, rows exported, by type of job",
      ["type"],
    ),
    jobBytes: counter("herald_job_bytes_total", "bytes of the files that jobs have written or read, by type of job", [
      "type",
    ]),
    jobSeconds: histogram(
      "herald_job_run_duration_seconds",
      "one run of a job, by type",
      [0.05, 0.25, 1, 5, 15, 45, 120, 600, 3_600], // a connection test takes a second, an export of a million rows 45
      ["type"],
    ),
    warehouseAttempts: counterFromZero(
      "herald_warehouse_attempts_total",
      "attempts of runs of warehouse exports by result: completed, partial (some of its datasets were given up), cancelled (its export was removed), retried (the store failed: later once more), failed (the store failed, and the run was given up)",
      combinations({ result: ["completed", "partial", "cancelled", "retried", "failed"] }),
    ),
    importRows: counterFromZero(
      "herald_import_rows_total",
      "rows of imported files by result: taken, faulty (nothing of it was taken), skipped (it, or a part of it, makes nothing)",
      combinations({ result: ["taken", "faulty", "skipped"] }),
    ),
  };
};

const outcomes: Record<OutcomeKind, true> = {
  sent: true,
  token_invalid: true,
  opted_out: true,
  retry_at: true,
  config_error: true,
  payload_error: true,
  uncertain: true,
};

/** What is read when it is asked for, rather than kept: it changes with every recipient. */
export type DispatcherLevels = {
  /** Recipients handed to a provider and not yet stored. */
  unsaved: () => number;
  /** The most that may be. */
  unsavedLimit: number;
  /** Accounts whose provider is cut off, by channel. */
  openBreakers: () => Record<string, number>;
};

/** Declares the gauges of a dispatcher that runs. */
export const watchLevels = (registry: Registry, levels: DispatcherLevels): void => {
  const { gauge, level } = metricsIn(registry);
  level(
    "herald_unsaved_recipients",
    "recipients handed to a provider whose outcome is not stored yet; bounded by HERALD_DISPATCHER_UNSAVED_LIMIT",
    (into) => into.set(levels.unsaved()),
  );
  const limit = gauge("herald_unsaved_recipients_limit", "the most that herald_unsaved_recipients may be");
  limit.set(levels.unsavedLimit);
  level(
    "herald_open_breakers",
    "accounts of an app and channel that are cut off because their provider fails, by channel",
    (into) => {
      for (const [channel, count] of Object.entries(levels.openBreakers())) into.set({ channel }, count);
    },
    ["channel"],
  );
};

/** Declares the gauge of conversations that wait, of the apps that this process counts. */
export const watchWaiting = (registry: Registry, { sum }: { sum: () => number }): void =>
  metricsIn(registry).level(
    "herald_conversations_waiting",
    "conversations in which somebody waits for an answer, of all apps; 0 in the dispatchers that do not count them",
    (into) => into.set(sum()),
  );
