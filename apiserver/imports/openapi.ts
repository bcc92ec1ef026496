import { exampleAppId, exampleTime } from "#core/schema/events/refs.ts";
import type { Import } from "#core/schema/imports/import.ts";
import type { Docs } from "../http/feature.ts";
import { lastPage } from "../http/openapi/examples.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const stats = {
  processed: 5_000,
  created_users: 3_912,
  updated_users: 870,
  created_subscriptions: 4_650,
  skipped: 180,
  errors: 38,
  warnings: 12,
  anonymous: 410,
};

const done: Import = {
  id: "imp_01JDKQ4WSM9P0Q6E5ZC2V8BXRT",
  app_id: exampleAppId,
  type: "thirdparty_players",
  file_name: "players.csv.gz",
  status: "completed",
  stats,
  progress: { read_bytes: 1_204_551, size_bytes: 1_204_551 },
  error: null,
  error_report_url: "https://files.example.com/imports/report.csv?signature=4f1b",
  requested_by: "key_01JDKQ4WSM0C1A3QWZ7E8TYB5N",
  created_at: exampleTime,
  completed_at: exampleTime,
};

const failed: Import = {
  ...done,
  status: "failed",
  error: "HS_IMPORT_TOO_LARGE: the file has more than 500000 rows",
  error_report_url: null,
};

/** What the OpenAPI document says of imports beside their operations. */
export const docs: Docs = {
  tags: { Imports: "Users and subscriptions from CSV files, read in the background." },
  examples: {
    CreateImport: [{ type: "csv_users", file: "external_id,channel,token\ncustomer-7,email,anna@example.com\n" }],
    Import: [done, failed],
    ImportStats: [stats, {}],
    ImportList: [lastPage(done)],
  },
  pathParameters: { importId: pathPart("id of an import", done.id) },
};
