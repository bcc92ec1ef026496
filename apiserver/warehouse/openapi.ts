import { exampleAppId, exampleTime } from "#core/schema/events/refs.ts";
import type {
  BackfillWarehouseExport,
  CreateWarehouseExport,
  PauseWarehouseExport,
  ResumeWarehouseExport,
  TestWarehouseExport,
  UpdateWarehouseExport,
  WarehouseExport,
  WarehouseRun,
  WarehouseTestResult,
} from "#core/schema/warehouse/export.ts";
import type { Docs } from "../http/feature.ts";
import { lastPage } from "../http/openapi/examples.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const settings = { type: "s3", bucket: "acme-messaging", region: "eu-central-1", prefix: "herald" } as const;

const destination = {
  ...settings,
  access_key_id: "AKIAIOSFODNN7EXAMPLE",
  secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};

const azure = {
  type: "azure_blob",
  account: "acmemessaging",
  container: "herald",
  sas_token: "sv=2025-11-05&sr=c&sp=racwdl&sig=c2lnbmF0dXJl",
} as const;

const schedule = {
  frequency: "1h",
  start_at: "00:30",
  timezone: "Europe/Berlin",
  exclude_window: { start: "01:00", end: "05:00" },
} as const;

const run: WarehouseRun = {
  id: "wxr_01JDKQ4WSMA7T2Q4N6C1Y8WXRN",
  export_id: "wex_01JDKQ4WSM3B9F0D5K7H2WXEXP",
  trigger: "schedule",
  status: "completed",
  window_start: "2026-11-21T11:30:00.000Z",
  window_end: "2026-11-21T12:30:00.000Z",
  datasets: [
    { dataset: "deliveries", status: "completed", row_count: 1_204, file_count: 1, bytes: 48_210, error: null },
  ],
  row_count: 1_204,
  file_count: 1,
  bytes: 48_210,
  manifest_key: "herald/v1/_manifests/wxr_01JDKQ4WSMA7T2Q4N6C1Y8WXRN.json",
  attempt: 0,
  error: null,
  next_retry_at: null,
  started_at: exampleTime,
  completed_at: exampleTime,
  created_at: exampleTime,
};

const made: WarehouseExport = {
  id: run.export_id,
  app_id: exampleAppId,
  name: "Lake",
  destination: {
    ...settings,
    endpoint: null,
    path_style: false,
    sse: "none",
    kms_key_id: null,
    secret_names: ["access_key_id", "secret_access_key"],
    secrets_updated_at: exampleTime,
  },
  datasets: ["deliveries"],
  event_names: null,
  excluded_columns: ["deliveries.campaign_id"],
  include_pii: false,
  format: "jsonl",
  compression: "gzip",
  schedule,
  setup_sql: null,
  status: "active",
  pause_reason: null,
  failure_count: 0,
  watermarks: { deliveries: run.window_end },
  last_run: { id: run.id, status: "completed", row_count: run.row_count, completed_at: exampleTime },
  next_run_at: "2026-11-21T13:45:00.000Z",
  managed: false,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const failedTest: WarehouseTestResult = {
  ok: false,
  steps: [
    { name: "resolve", ok: true, message: null, duration_ms: 4 },
    { name: "authenticate", ok: false, message: "AUTH: the store answered InvalidAccessKeyId", duration_ms: 61 },
  ],
};

/** What the OpenAPI document says of warehouse exports beside their operations. */
export const docs: Docs = {
  tags: { "Warehouse exports": "What changes in an app, written to a bucket of its owner again and again." },
  examples: {
    WarehouseExport: [made],
    WarehouseExportMade: [{ ...made, hash_key: "6f1c".repeat(16) }],
    WarehouseExportPage: [lastPage(made)],
    CreateWarehouseExport: [
      { name: made.name, destination, datasets: ["deliveries"], schedule, test: false },
      { name: "Blobs", destination: azure, datasets: ["users"], format: "parquet", include_pii: true, test: false },
      { name: "Orders", destination: azure, datasets: ["events"], event_names: ["order.paid"], test: false },
    ] satisfies CreateWarehouseExport[],
    UpdateWarehouseExport: [{ schedule: { frequency: "15m" } }] satisfies UpdateWarehouseExport[],
    PauseWarehouseExport: [{ reason: "the bucket moves" }] satisfies PauseWarehouseExport[],
    ResumeWarehouseExport: [{ catch_up: false }] satisfies ResumeWarehouseExport[],
    TestWarehouseExport: [{}, { destination }] satisfies TestWarehouseExport[],
    WarehouseTestResult: [failedTest],
    BackfillWarehouseExport: [
      {},
      { from: "2026-11-01T00:00:00.000Z", to: "2026-11-02T00:00:00.000Z", datasets: ["deliveries"] },
    ] satisfies BackfillWarehouseExport[],
    WarehouseRun: [run],
    WarehouseRunPage: [lastPage(run)],
  },
  pathParameters: { warehouseExportId: pathPart("id of a warehouse export", made.id) },
  queryExamples: { trigger: "schedule" },
};
