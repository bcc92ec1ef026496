import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import {
  type CreateEventsExport,
  type CreateExport,
  type CreateHistory,
  Export,
  type ExportFilters,
} from "#core/schema/exports/export.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { Docs } from "../http/feature.ts";
import { lastPage } from "../http/openapi/examples.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const address = "https://files.example.com/herald/exports/app/exp.csv?X-Amz-Signature=8f1c";
const filters: ExportFilters = { message_id: refs.message_id, from: "2026-11-01T00:00:00.000Z", to: exampleTime };

const made = showAs(Export, {
  id: "exp_01JDKQ4WSMC5T0R3J8Y7N2EXPT",
  app_id: exampleAppId,
  type: "deliveries",
  filters,
  compression: "none",
  status: "completed",
  row_count: 1204,
  size_bytes: 231_884,
  progress: { done: 1204, total: 1204, at: exampleTime },
  download_url: address,
  expires_at: "2026-11-22T12:00:02.345Z",
  requested_by: "key_01JDKQ4WSM8V5CRA2E9MHX3TNB",
  created_at: exampleTime,
  completed_at: exampleTime,
});

/** What the OpenAPI document says of exports beside their operations. */
export const docs: Docs = {
  examples: {
    CreateExport: [
      { type: "users" },
      { type: "subscriptions", filters: { channel: "email", status: "subscribed" }, compression: "gzip" },
    ] satisfies CreateExport[],
    CreateEventsExport: [{ events: ["opened", "clicked"], channel: "email" }] satisfies CreateEventsExport[],
    CreateHistory: [{ events: "clicked" }] satisfies CreateHistory[],
    Export: [made],
    ExportPage: [lastPage(made)],
    HistoryExport: [{ ...made, success: true, destination_url: address }],
    EventsExport: [{ ...made, type: "message_events", csv_file_url: address }],
  },
  pathParameters: {
    exportId: pathPart("id of an export", made.id),
    messageId: pathPart("id of a notification", refs.message_id),
  },
  queryExamples: { fresh: true },
};
