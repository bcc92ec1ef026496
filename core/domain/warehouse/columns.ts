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

/** What of an export decides which columns its files have. */
export type ColumnChoice = { excluded: readonly string[]; includePii: boolean };

/** Grows when a column is added or goes, by dataset. */
export const schemaVersions: Readonly<Record<WarehouseDataset, number>> = {
  users: 1,
  subscriptions: 2, // address_hash, address
  events: 1,
  messages: 1,
  deliveries: 1,
  message_events: 2, // received_at for updated_at
  suppressions: 2, // address_hash, address
  event_definitions: 1,
  conversations: 1,
  conversation_messages: 2, // _hs_deleted
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
    column(13, "address_hash", "string", true),
    column(14, "address", "string", true),
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
  message_events: [
    column(1, "id", "string"),
    column(2, "message_id", "string", true),
    column(3, "campaign_id", "string", true),
    column(4, "variant_id", "string", true),
    column(5, "delivery_id", "string"),
    column(6, "subscription_id", "string", true),
    column(7, "user_id", "string", true),
    column(8, "external_id", "string", true),
    column(9, "channel", "string", true),
    column(10, "event", "string"),
    column(11, "occurred_at", "timestamp"),
    column(12, "error_code", "string", true),
    column(13, "error_message", "string", true),
    column(14, "provider_code", "string", true),
    column(15, "suppression_reason", "string", true),
    column(16, "bounce_type", "string", true),
    column(17, "url", "string", true),
    column(18, "button_id", "string", true),
    column(19, "machine", "boolean"),
    column(20, "sms_segments", "int", true),
    column(21, "properties", "json"),
    column(22, "created_at", "timestamp", true),
    column(24, "received_at", "timestamp"), // 23 was updated_at of the delivery
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
    column(16, "address_hash", "string", true),
    column(17, "address", "string", true),
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
  conversations: [
    column(1, "id", "string"),
    column(2, "channel", "string", true),
    column(3, "sender_address", "string", true),
    column(4, "contact_address_masked", "string", true),
    column(5, "contact_address_hash", "string", true),
    column(6, "contact_address", "string", true),
    column(7, "contact_name", "string", true),
    column(8, "user_id", "string", true),
    column(9, "external_id", "string", true),
    column(10, "subscription_id", "string", true),
    column(11, "status", "string", true),
    column(12, "handled_by", "string", true),
    column(13, "assignee_type", "string", true),
    column(14, "assignee_id", "string", true),
    column(15, "priority", "string", true),
    column(16, "tags", "json", true),
    column(17, "custom_attributes", "json", true),
    column(18, "unread_count", "int", true),
    column(19, "message_count", "int", true),
    column(20, "waiting_since", "timestamp", true),
    column(21, "snoozed_until", "timestamp", true),
    column(22, "first_response_at", "timestamp", true),
    column(23, "last_inbound_at", "timestamp", true),
    column(24, "last_outbound_at", "timestamp", true),
    column(25, "closed_at", "timestamp", true),
    column(26, "session_expires_at", "timestamp", true),
    column(27, "created_at", "timestamp", true),
    column(28, "updated_at", "timestamp"),
  ],
  conversation_messages: [
    column(1, "id", "string"),
    column(2, "conversation_id", "string", true),
    column(3, "user_id", "string", true),
    column(4, "subscription_id", "string", true),
    column(5, "direction", "string", true),
    column(6, "type", "string", true),
    column(7, "text", "string", true),
    column(8, "content", "json", true),
    column(9, "author_type", "string", true),
    column(10, "author_id", "string", true),
    column(11, "template_id", "string", true),
    column(12, "reply_to_id", "string", true),
    column(13, "message_id", "string", true),
    column(14, "provider", "string", true),
    column(15, "media_count", "int", true),
    column(16, "sent_at", "timestamp", true),
    column(17, "created_at", "timestamp", true),
    column(18, "updated_at", "timestamp"),
  ],
};

/** Columns that are there with `include_pii` alone. */
const ofPii: Partial<Readonly<Record<WarehouseDataset, readonly string[]>>> = {
  subscriptions: ["address"],
  suppressions: ["address"],
  conversations: ["contact_address", "contact_name"],
  conversation_messages: ["text", "content"],
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
export const columnsOf = (dataset: WarehouseDataset, { excluded, includePii }: ColumnChoice): WarehouseColumn[] => [
  ...columns[dataset].filter(
    ({ name }) => !excluded.includes(`${dataset}.${name}`) && (includePii || ofPii[dataset]?.includes(name) !== true),
  ),
  ...common,
  ...(hasDeletions(dataset) ? [deleted] : []),
];
