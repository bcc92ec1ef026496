import { userExample } from "#core/schema/events/people.ts";
import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import {
  type CreateEventsExport,
  type CreateExport,
  type CreateHistory,
  Export,
  type ExportFilters,
} from "#core/schema/exports/export.ts";
import type { PersonalDataOrExport } from "#core/schema/exports/person.ts";
import { patterns } from "#core/schema/json/patterns.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { PersonalData } from "#core/schema/people/data.ts";
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

const stored: PersonalData["events"][number] = {
  id: "order-4711",
  name: "order.paid",
  subscription_id: null,
  properties: { items: 2 },
  value: 49.9,
  source: "api",
  occurred_at: userExample.updated_at,
  received_at: userExample.updated_at,
};

const kept: PersonalData["inbox"][number] = {
  id: "itm_01JDKQ4WSM2A9WTF5Q0BHM6DYS",
  message_id: refs.message_id,
  title: "Your order",
  body: "It is on its way",
  image_url: null,
  url: "https://shop.example/orders/4711",
  data: {},
  actions: [{ id: "track", text: "Track it", url: null }],
  category: null,
  created_at: userExample.updated_at,
  expires_at: userExample.updated_at,
  seen_at: null,
  read_at: null,
  archived_at: null,
  snoozed_until: null,
};

const personal: PersonalData = {
  user: userExample,
  addresses: [{ subscription_id: refs.subscription_id, channel: "email", token: "anna@example.com" }],
  suppressions: [],
  events: [stored],
  deliveries: [],
  inbox: [kept],
  in_app_events: [],
  sessions: [{ month: "2026-06-01T00:00:00.000Z", begun: ["2026-06-15T12:00:00.000Z"] }],
  conversations: [],
  conversation_messages: [],
  conversation_notes: [],
  generated_at: userExample.updated_at,
};

/** What the OpenAPI document says of exports beside their operations. */
export const docs: Docs = {
  tags: { Exports: "What an app has as CSV files, made in the background." },
  examples: {
    CreateExport: [
      { type: "users" },
      { type: "subscriptions", filters: { channel: "email", status: "subscribed" }, compression: "gzip" },
    ] satisfies CreateExport[],
    CreateEventsExport: [{ events: ["opened", "clicked"], channel: "email" }] satisfies CreateEventsExport[],
    CreateHistory: [{ events: "clicked" }] satisfies CreateHistory[],
    Export: [made],
    ExportPage: [lastPage(made)],
    InboxItem: [kept],
    PersonalData: [personal],
    PersonalDataOrExport: [personal, { ...made, type: "personal_data", filters: {} }] satisfies PersonalDataOrExport[],
    HistoryExport: [{ ...made, success: true, destination_url: address }],
    EventsExport: [{ ...made, type: "message_events", csv_file_url: address }],
  },
  pathParameters: {
    exportId: pathPart("id of an export", made.id),
    messageId: pathPart("id of a notification", refs.message_id),
    label: pathPart("`external_id`, `user_id` or an alias label", "external_id", { pattern: patterns.aliasLabel }),
    id: pathPart("the user's id of that label", refs.external_id, { maxLength: 255 }),
  },
  queryExamples: { fresh: true },
};
