import type { WarehouseDataset } from "../../schema/warehouse/export.ts";

/** How a value of a column is written. `json`: a text that is JSON. */
export type ColumnType = "string" | "int" | "boolean" | "timestamp" | "json";

/**
 * A column of a dataset. Its id is its own for ever: a column that is called otherwise keeps it, and no other gets it.
 * Source: docs/reference/warehouse.md#columns.
 */
export type WarehouseColumn = { id: number; name: string; type: ColumnType; nullable: boolean };

/** Grows when a column is added or goes, by dataset. */
export const schemaVersions: Readonly<Record<WarehouseDataset, number>> = { deliveries: 1, messages: 1 };

const column = (id: number, name: string, type: ColumnType, nullable = false): WarehouseColumn => ({
  id,
  name,
  type,
  nullable,
});

/** The columns of each dataset, in the order of its files. */
const columns: Readonly<Record<WarehouseDataset, readonly WarehouseColumn[]>> = {
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
};

/** What every row has besides, whatever its dataset. */
const common: readonly WarehouseColumn[] = [
  column(1001, "_hs_exported_at", "timestamp"),
  column(1002, "_hs_run_id", "string"),
];

/** Without these a loader could not tell rows and their versions apart. */
const needed = ["id", "updated_at"];

/** The names of the columns of a dataset that can be left out. */
export const columnNames = (dataset: WarehouseDataset): string[] =>
  columns[dataset].map(({ name }) => name).filter((name) => !needed.includes(name));

/** The columns of a dataset that are not left out (`<dataset>.<column>`). */
export const columnsOf = (dataset: WarehouseDataset, excluded: readonly string[]): WarehouseColumn[] => [
  ...columns[dataset].filter(({ name }) => !excluded.includes(`${dataset}.${name}`)),
  ...common,
];
