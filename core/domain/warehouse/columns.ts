import { deletedDatasets, type WarehouseDataset } from "../../schema/warehouse/export.ts";

/** How a value of a column is written. `json`: a text that is JSON; `decimal`: a number with nine decimals at most. */
export type ColumnType = "string" | "int" | "decimal" | "boolean" | "timestamp" | "json";

/** The datasets whose rows can go: then a row says so, of the id alone. */
export type DeletedDataset = (typeof deletedDatasets)[number];

/**
 * A column of a dataset. Its id is its own for ever: a column that is called otherwise keeps it, and no other gets it.
 * Source: docs/reference/warehouse.md#columns.
 */
export type WarehouseColumn = { id: number; name: string; type: ColumnType; nullable: boolean };

/** Grows when a column is added or goes, by dataset. */
export const schemaVersions: Readonly<Record<WarehouseDataset, number>> = {
  users: 1,
  subscriptions: 1,
  events: 1,
  messages: 1,
  deliveries: 1,
  suppressions: 1,
  event_definitions: 1,
};

const column = (id: number, name: string, type: ColumnType, nullable = false): WarehouseColumn => ({
  id,
  name,
  type,
  nullable,
});

/** The columns of each dataset, in the order of its files. */
const columns: Readonly<Record<WarehouseDataset, readonly WarehouseColumn[]>> = {
  users: [
    column(1, "id", "string"),
    column(2, "external_id", "string", true),
    column(3, "tags", "json", true),
    column(4, "properties", "json", true),
    column(5, "session_count", "int", true),
    column(6, "first_seen_at", "timestamp", true),
    column(7, "last_active_at", "timestamp", true),
    column(8, "created_at", "timestamp", true),
    column(9, "updated_at", "timestamp"),
  ],
  subscriptions: [
    column(1, "id", "string"),
    column(2, "user_id", "string", true),
    column(3, "external_id", "string", true),
    column(4, "channel", "string", true),
    column(5, "status", "string", true),
    column(6, "token_masked", "string", true),
    column(7, "device", "json", true),
    column(8, "test_device", "boolean", true),
    column(9, "last_active_at", "timestamp", true),
    column(10, "unsubscribed_at", "timestamp", true),
    column(11, "created_at", "timestamp", true),
    column(12, "updated_at", "timestamp"),
  ],
  events: [
    column(1, "id", "string"),
    column(2, "user_id", "string", true),
    column(3, "external_id", "string", true),
    column(4, "subscription_id", "string", true),
    column(5, "name", "string"),
    column(6, "properties", "json"),
    column(7, "value", "decimal", true),
    column(8, "source", "string"),
    column(9, "occurred_at", "timestamp"),
    column(10, "received_at", "timestamp"),
  ],
  deliveries: [
    column(1, "id", "string"),
    column(2, "message_id", "string"),
    column(3, "campaign_id", "string", true),
    column(4, "subscription_id", "string"),
    column(5, "user_id", "string", true),
    column(6, "channel", "string"),
    column(7, "status", "string"),
    column(8, "error_code", "string", true),
    column(9, "suppression_reason", "string", true),
    column(10, "sent_at", "timestamp", true),
    column(11, "delivered_at", "timestamp", true),
    column(12, "opened_at", "timestamp", true),
    column(13, "clicked_at", "timestamp", true),
    column(14, "created_at", "timestamp"),
    column(15, "updated_at", "timestamp"),
  ],
  messages: [
    column(1, "id", "string"),
    column(2, "name", "string", true),
    column(3, "source", "string"),
    column(4, "status", "string"),
    column(5, "category", "string", true),
    column(6, "labels", "json"),
    column(7, "template_id", "string", true),
    column(8, "template_version", "int", true),
    column(9, "channels", "json"),
    column(10, "counts", "json"),
    column(11, "error", "string", true),
    column(12, "scheduled_for", "timestamp", true),
    column(13, "started_at", "timestamp", true),
    column(14, "completed_at", "timestamp", true),
    column(15, "created_at", "timestamp"),
    column(16, "updated_at", "timestamp"),
  ],
  suppressions: [
    column(1, "id", "string"),
    column(2, "channel", "string", true),
    column(3, "address_masked", "string", true),
    column(4, "external_id", "string", true),
    column(5, "user_id", "string", true),
    column(6, "reason", "string", true),
    column(7, "source", "string", true),
    column(8, "categories", "json", true),
    column(9, "message_id", "string", true),
    column(10, "delivery_id", "string", true),
    column(11, "provider_code", "string", true),
    column(12, "note", "string", true),
    column(13, "expires_at", "timestamp", true),
    column(14, "created_at", "timestamp", true),
    column(15, "updated_at", "timestamp"),
  ],
  event_definitions: [
    column(1, "id", "string"),
    column(2, "name", "string"),
    column(3, "display_name", "string", true),
    column(4, "is_conversion", "boolean"),
    column(5, "outcome_unique", "boolean"),
    column(6, "outcome_unattributed", "boolean"),
    column(7, "retention_days", "int", true),
    column(8, "first_seen_at", "timestamp"),
    column(9, "created_at", "timestamp"),
    column(10, "updated_at", "timestamp"),
  ],
};

/** What every row has besides, whatever its dataset. */
const common: readonly WarehouseColumn[] = [
  column(1001, "_hs_exported_at", "timestamp"),
  column(1002, "_hs_run_id", "string"),
];

const deleted = column(1003, "_hs_deleted", "boolean");

/** Without these a loader could not tell rows and their versions apart. */
const needed = ["id", "updated_at", "received_at"];

/** Whether rows of a dataset can go. */
export const hasDeletions = (dataset: WarehouseDataset): dataset is DeletedDataset =>
  deletedDatasets.some((one) => one === dataset);

/** The names of the columns of a dataset that can be left out. */
export const columnNames = (dataset: WarehouseDataset): string[] =>
  columns[dataset].map(({ name }) => name).filter((name) => !needed.includes(name));

/** The columns of a dataset that are not left out (`<dataset>.<column>`). */
export const columnsOf = (dataset: WarehouseDataset, excluded: readonly string[]): WarehouseColumn[] => [
  ...columns[dataset].filter(({ name }) => !excluded.includes(`${dataset}.${name}`)),
  ...common,
  ...(hasDeletions(dataset) ? [deleted] : []),
];
