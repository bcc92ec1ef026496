import { type AlertCase, afterStep, all, type History, histogram } from "./histories.ts";
import { objectiveCases } from "./objective-cases.ts";
import { operatorCases } from "./operator-cases.ts";

const accepts = (bad: number, good: number): History => ({
  [all("herald_http_requests_total", 'route="/v1/notifications",method="POST",status="503"')]: `0+${bad}x400`,
  [all("herald_http_requests_total", 'route="/v1/notifications",method="POST",status="202"')]: `0+${good}x400`,
});
const sends = (bad: number, good: number): History => ({
  [all("herald_deliveries_total", 'channel="ios_push",provider="apns",outcome="retry_at"')]: `0+${bad}x400`,
  [all("herald_deliveries_total", 'channel="ios_push",provider="apns",outcome="sent"')]: `0+${good}x400`,
});
const program = (name: string): History => ({ [all("nodejs_version_info", `program="${name}"`)]: "1x20" });

const service: Record<string, AlertCase> = {
  HeraldAcceptBudgetBurnsFast: { at: "90m", fires: accepts(20, 980), rests: accepts(5, 995) },
  HeraldAcceptBudgetBurnsSlowly: { at: "380m", fires: accepts(4, 996), rests: accepts(1, 1999) },
  HeraldProgramDown: {
    at: "10m",
    fires: { ...program("apiserver"), ...program("dispatcher") },
    rests: { ...program("apiserver"), ...program("dispatcher"), ...program("operator") },
  },
  HeraldStoreUnreachable: {
    at: "10m",
    fires: {
      [all("herald_dependency_up", 'program="apiserver",dependency="redis",pod="a"')]: "0x20",
      [all("herald_dependency_up", 'program="apiserver",dependency="redis",pod="b"')]: "0x20",
    },
    rests: {
      [all("herald_dependency_up", 'program="apiserver",dependency="redis",pod="a"')]: "0x20",
      [all("herald_dependency_up", 'program="apiserver",dependency="redis",pod="b"')]: "1x20",
    },
  },
  HeraldReplicaCutOff: {
    at: "15m",
    fires: {
      [all("herald_dependency_up", 'program="apiserver",dependency="redis",pod="a"')]: "0x20",
      [all("herald_dependency_up", 'program="apiserver",dependency="redis",pod="b"')]: "1x20",
    },
    rests: {
      // a replica that lost it four minutes ago, and a store that none reaches, which is another alert's
      [all("herald_dependency_up", 'program="apiserver",dependency="redis",pod="a"')]: "1x10 0x10",
      [all("herald_dependency_up", 'program="apiserver",dependency="redis",pod="b"')]: "1x20",
      [all("herald_dependency_up", 'program="apiserver",dependency="mongodb",pod="a"')]: "0x20",
      [all("herald_dependency_up", 'program="apiserver",dependency="mongodb",pod="b"')]: "0x20",
    },
  },
  HeraldAcceptSlow: {
    at: "30m",
    fires: histogram("herald_http_request_duration_seconds", 'route="/v1/notifications",method="POST"', {
      "0.25": 90,
      "0.5": 100,
    }),
    rests: histogram("herald_http_request_duration_seconds", 'route="/v1/notifications",method="POST"', {
      "0.1": 90,
      "0.25": 100,
    }),
  },
  HeraldRateLimitsLocal: {
    at: "20m",
    fires: { [all("herald_rate_limit_decisions_total", 'decision="allowed",bucket="local"')]: "0+1x30" },
    rests: { [all("herald_rate_limit_decisions_total", 'decision="allowed",bucket="redis"')]: "0+1x30" },
  },
  HeraldEventLoopBlocked: {
    at: "20m",
    fires: { [all("nodejs_eventloop_lag_p99_seconds", 'program="apiserver",pod="a"')]: "0.6x30" },
    rests: { [all("nodejs_eventloop_lag_p99_seconds", 'program="apiserver",pod="a"')]: "0.4x30" },
  },
  HeraldProgramRestarts: {
    at: "20m",
    fires: { [all("process_start_time_seconds", 'program="dispatcher"')]: "1 2 3 4 5x20" },
    rests: { [all("process_start_time_seconds", 'program="dispatcher"')]: "1 2 3 4x20" },
  },
};

const delivery: Record<string, AlertCase> = {
  HeraldDeliveryBudgetBurnsFast: { at: "90m", fires: sends(200, 800), rests: sends(50, 950) },
  HeraldDeliveryBudgetBurnsSlowly: { at: "380m", fires: sends(40, 960), rests: sends(5, 995) },
  HeraldCredentialsRefused: {
    at: "20m",
    fires: { [all("herald_deliveries_total", 'channel="email",provider="smtp",outcome="config_error"')]: "0+1x30" },
    rests: { [all("herald_deliveries_total", 'channel="email",provider="smtp",outcome="config_error"')]: "3x30" },
  },
  HeraldAccountsRefused: {
    at: "150m",
    fires: { [all("herald_account_checks_total", 'channel="email",result="refused"')]: "0x9 1x49 2x100" },
    rests: { [all("herald_account_checks_total", 'channel="email",result="refused"')]: "0x9 1x150" },
  },
  HeraldInvalidationsHeld: afterStep("herald_invalidations_held_total", 'channel="ios_push"', [60, 15]),
  HeraldCallbacksRefused: afterStep("herald_callbacks_total", 'provider="sendgrid",outcome="refused"', [60, 40]),
  HeraldReceiptsUnmatched: afterStep("herald_receipts_unmatched_total", "", [120, 80]),
  HeraldBreakersOpen: {
    at: "15m",
    fires: { [all("herald_open_breakers", 'channel="email"')]: "1x20" },
    rests: { [all("herald_open_breakers", 'channel="email"')]: "1x8 0 1x10" },
  },
  HeraldUnsavedAtLimit: {
    at: "15m",
    fires: {
      [all("herald_unsaved_recipients", 'pod="a"')]: "90x20",
      [all("herald_unsaved_recipients_limit", 'pod="a"')]: "100x20",
    },
    rests: {
      [all("herald_unsaved_recipients", 'pod="a"')]: "91x9 50 91x10",
      [all("herald_unsaved_recipients_limit", 'pod="a"')]: "100x20",
    },
  },
  HeraldTimersLate: {
    at: "20m",
    fires: histogram("herald_timers_lag_seconds", 'source="messages"', { "3": 90, "10": 100 }),
    rests: histogram("herald_timers_lag_seconds", 'source="messages"', { "1.5": 90, "3": 100 }),
  },
  HeraldOutboxKept: {
    at: "20m",
    fires: { [all("herald_outbox_events_total", 'program="apiserver",outcome="kept"')]: "0+1x30" },
    rests: { [all("herald_outbox_events_total", 'program="apiserver",outcome="published"')]: "0+1x30" },
  },
  HeraldEventsRefused: {
    at: "20m",
    fires: { [all("herald_custom_events_total", 'outcome="no_room"')]: "0+1x30" },
    rests: { [all("herald_custom_events_total", 'outcome="refused"')]: "0+1x30" },
  },
  HeraldConversationsUnanswered: {
    at: "6h",
    fires: {
      [all("herald_conversations_waiting", "")]: "0x60 25x400",
      [all("herald_conversation_replies_total", 'channel="sms"')]: "0+1x60 60x400",
    },
    rests: {
      [all("herald_conversations_waiting", "")]: "0x60 25x400",
      [all("herald_conversation_replies_total", 'channel="sms"')]: "0+1x60 60x200 61x200", // somebody answers now and then
    },
  },
  HeraldWorkSetAside: {
    at: "20m",
    fires: { [all("herald_set_aside_total", 'source="removals"')]: "0 1 2 3x30" },
    rests: { [all("herald_set_aside_total", 'source="removals"')]: "0 1 2x30" },
  },
  HeraldHintsFail: {
    at: "25m",
    fires: {
      [all("herald_queue_messages_total", 'consumer="deliver",settlement="failed"')]: "0+1x30",
      [all("herald_queue_messages_total", 'consumer="deliver",settlement="done"')]: "0+9x30",
    },
    rests: {
      [all("herald_queue_messages_total", 'consumer="deliver",settlement="failed"')]: "0+1x30",
      [all("herald_queue_messages_total", 'consumer="deliver",settlement="done"')]: "0+99x30",
    },
  },
  HeraldJobsFail: {
    at: "30m",
    fires: {
      [all("herald_jobs_total", 'type="exports",result="failed"')]: "0x14 3x40",
      [all("herald_jobs_total", 'type="exports",result="done"')]: "0+1x60",
    },
    rests: {
      [all("herald_jobs_total", 'type="exports",result="failed"')]: "0x14 2x40",
      [all("herald_jobs_total", 'type="exports",result="done"')]: "0+1x60",
    },
  },
  HeraldWarehouseStoresFail: {
    at: "70m",
    fires: {
      [all("herald_warehouse_attempts_total", 'result="retried"')]: "0x14 5x90",
      [all("herald_warehouse_attempts_total", 'result="completed"')]: "7x105",
    },
    rests: {
      [all("herald_warehouse_attempts_total", 'result="retried"')]: "0x14 5x90",
      [all("herald_warehouse_attempts_total", 'result="completed"')]: "7x20 8x85", // another's store
    },
  },
  HeraldWarehouseExportsPartial: {
    at: "70m",
    fires: {
      [all("herald_warehouse_attempts_total", 'result="partial"')]: "0x30 1x120",
      [all("herald_warehouse_attempts_total", 'result="completed"')]: "0+1x150", // of other exports
    },
    rests: {
      [all("herald_warehouse_attempts_total", 'result="partial"')]: "3x150", // of long ago
      [all("herald_warehouse_attempts_total", 'result="retried"')]: "0+1x150",
      [all("herald_warehouse_attempts_total", 'result="completed"')]: "0+1x150",
    },
  },
  HeraldQueueStuck: {
    at: "20m",
    fires: {
      [all("herald_consumer_pending", 'stream="work-free",consumer="plan"')]: "5x30",
      [all("herald_queue_messages_total", 'stream="work-free",consumer="plan",settlement="done"')]: "7x30",
      [all("herald_queue_messages_total", 'stream="work-growth",consumer="plan",settlement="done"')]: "0+1x30", // another's
      [all("herald_job_items_total", 'type="removals"')]: "0+1x30", // another's
    },
    rests: {
      [all("herald_consumer_pending", 'stream="jobs",consumer="jobs"')]: "1x30", // one takes long, and goes on
      [all("herald_queue_messages_total", 'stream="jobs",consumer="jobs",settlement="done"')]: "7x30",
      [all("herald_job_items_total", 'type="removals"')]: "0+1x30",
      [all("herald_consumer_pending", 'stream="work-free",consumer="plan"')]: "5x30",
      [all("herald_queue_messages_total", 'stream="work-free",consumer="plan",settlement="done"')]: "0+1x30",
    },
  },
  HeraldQueueBehind: {
    at: "25m",
    fires: {
      [all("herald_consumer_pending", 'stream="work-free",consumer="plan"')]: "1000x30",
      [all("herald_queue_messages_total", 'stream="work-free",consumer="plan",settlement="done"')]: "0+60x30",
      [all("herald_consumer_pending", 'stream="work-growth",consumer="plan"')]: "0x30",
      [all("herald_queue_messages_total", 'stream="work-growth",consumer="plan",settlement="done"')]: "0+6000x30",
    },
    rests: {
      [all("herald_consumer_pending", 'stream="jobs",consumer="jobs"')]: "8x30", // they take as long as they need
      [all("herald_queue_messages_total", 'stream="jobs",consumer="jobs",settlement="done"')]: "0+1x30",
      [all("herald_consumer_pending", 'stream="work-free",consumer="plan"')]: "200x30",
      [all("herald_queue_messages_total", 'stream="work-free",consumer="plan",settlement="done"')]: "0+60x30",
    },
  },
  HeraldStreamNearlyFull: {
    at: "10m",
    fires: {
      [all("herald_stream_bytes", 'stream="work"')]: "90x20",
      [all("herald_stream_bytes_limit", 'stream="work"')]: "100x20",
    },
    rests: {
      [all("herald_stream_bytes", 'stream="work"')]: "70x20",
      [all("herald_stream_bytes_limit", 'stream="work"')]: "100x20",
    },
  },
};

const webhooks: Record<string, AlertCase> = {
  HeraldWebhooksFailEverywhere: {
    at: "25m",
    fires: {
      [all("herald_webhook_attempts_total", 'outcome="failed",error_class="dns"')]: "0+6x30",
      [all("herald_webhook_attempts_total", 'outcome="success",error_class=""')]: "0+4x30",
    },
    rests: {
      [all("herald_webhook_attempts_total", 'outcome="failed",error_class="http_5xx"')]: "0+6x30",
      [all("herald_webhook_attempts_total", 'outcome="success",error_class=""')]: "0+4x30",
    },
  },
  HeraldWebhooksLate: {
    at: "20m",
    fires: histogram("herald_webhook_queue_seconds", "", { "1": 40, "5": 100 }),
    rests: histogram("herald_webhook_queue_seconds", "", { "1": 60, "5": 100 }),
  },
  HeraldWebhookEndpointsFailing: {
    at: "75m",
    fires: { [all("herald_webhook_endpoints", 'state="failing"')]: "2x60 20x20" },
    rests: { [all("herald_webhook_endpoints", 'state="failing"')]: "2x60 7x20" },
  },
  HeraldWebhookLanesFull: {
    at: "15m",
    fires: { [all("herald_webhook_endpoint_queues", 'pod="a"')]: "960x20" },
    rests: { [all("herald_webhook_endpoint_queues", 'pod="a"')]: "940x20" },
  },
};

/** A tenant with a share of 100,000 deliveries of an hour; what waits for its endpoints, and for all, minute by minute. */
const loud = (deliveries: number, own: string, ofAll: string): History => ({
  [all("herald_tenant_usage_last_hour", 'tenant="ten_a",name="A",figure="deliveries",pod="a"')]: `${deliveries}x60`,
  [all("herald_usage_last_hour", 'figure="deliveries",pod="a"')]: "100000x60",
  [all("herald_tenant_webhook_backlog", 'tenant="ten_a",name="A",pod="a"')]: own,
  [all("herald_webhook_backlog", 'pod="a"')]: ofAll,
});

const tenants: Record<string, AlertCase> = {
  HeraldTenantLoud: {
    at: "40m",
    fires: loud(60_000, "0x60", "0+100x60"),
    rests: loud(60_000, "0+100x60", "500+100x60"), // its own grows alone
  },
};

/** For every alert of the chart. */
export const alertCases: Readonly<Record<string, AlertCase>> = {
  ...service,
  ...delivery,
  ...webhooks,
  ...objectiveCases,
  ...tenants,
  ...operatorCases,
};
