import { type Static, Type } from "typebox";
import { conversationStatuses } from "../conversations/conversation.ts";
import { ChannelName, Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { deliveryStatuses } from "../messages/delivery.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Literal, Optional, String: Text } = Type;

/** Bounds of exports. Source: docs/reference/limits.md#exports. */
export const exportLimits = { rows: 1_000_000, running: 2, pending: 20, attempts: 3 } as const;

/** What can be exported. Source: docs/reference/exports.md#types. */
export const exportTypes = [
  "users",
  "subscriptions",
  "events",
  "deliveries",
  "message_events",
  "suppressions",
  "conversations",
  "conversation_messages",
] as const;
export type ExportType = (typeof exportTypes)[number];

/** What an export may be of: `personal_data` is asked for by `GET …/users/by/{label}/{id}/data` alone. */
export const madeTypes = [...exportTypes, "personal_data"] as const;
export type MadeType = (typeof madeTypes)[number];

/** What happens to a delivery: one row each of `message_events`. Source: docs/reference/exports.md#message-events. */
export const messageEvents = [
  "queued",
  "suppressed",
  "sent",
  "delivered",
  "failed",
  "errored",
  "expired",
  "opened",
  "clicked",
  "bounced",
  "complained",
  "unsubscribed",
  "converted",
  "cancelled",
  "in_app_impression",
  "in_app_clicked",
  "in_app_dismissed",
] as const;
export type MessageEvent = (typeof messageEvents)[number];

export const exportStatuses = ["pending", "running", "completed", "failed"] as const;
export type ExportStatus = (typeof exportStatuses)[number];

const Id = Text({ maxLength: 64 });
const Events = List(Enum([...messageEvents]), { minItems: 1, maxItems: messageEvents.length });

const filters = {
  from: Optional(DateTime),
  to: Optional(DateTime),
  name: Optional(Text({ maxLength: 100 })),
  message_id: Optional(Id),
  campaign_id: Optional(Id),
  status: Optional(
    Text({
      maxLength: 32,
      description: "of subscriptions, deliveries or conversations, or an event of message_events",
    }),
  ),
  channel: Optional(ChannelName),
  segment_id: Optional(Id),
  events: Optional(Events),
};

/** What narrows an export. Which type takes which: {@link applicable}. */
export const ExportFilters = Closed(filters, { description: "both instants are included" });
export type ExportFilters = Static<typeof ExportFilters>;

/** The filters that each type takes. Source: docs/reference/exports.md#filters. */
export const applicable: Readonly<Record<ExportType, readonly (keyof ExportFilters)[]>> = {
  users: ["segment_id"],
  subscriptions: ["channel", "status"],
  events: ["name", "from", "to"],
  deliveries: ["message_id", "campaign_id", "status", "from", "to"],
  message_events: ["message_id", "campaign_id", "channel", "status", "events", "from", "to"],
  suppressions: ["channel", "from", "to"],
  conversations: ["channel", "status", "from", "to"],
  conversation_messages: ["channel", "from", "to"],
};

/** The values of `status` that a type knows. */
export const statusesOf: Readonly<Partial<Record<ExportType, readonly string[]>>> = {
  subscriptions: ["subscribed", "unsubscribed", "invalid"],
  deliveries: deliveryStatuses,
  message_events: messageEvents,
  conversations: conversationStatuses,
};

export const compressions = ["none", "gzip"] as const;
export type Compression = (typeof compressions)[number];
const Packed = Enum([...compressions], { description: "default none; gzip: the file is a .csv.gz" });

/** Body of `POST /v1/apps/{appId}/exports`. */
export const CreateExport = Closed({
  type: Enum([...exportTypes]),
  filters: Optional(ExportFilters),
  compression: Optional(Packed),
});
export type CreateExport = Static<typeof CreateExport>;

const Progress = Type.Object({
  done: Integer({ minimum: 0, description: "rows so far" }),
  total: Nullable(Integer({ minimum: 0, description: "null while nobody knows" })),
  at: DateTime,
});

const members = {
  id: Text(),
  app_id: Text(),
  type: Enum([...madeTypes]),
  filters: Type.Object(filters),
  compression: Packed,
  status: Enum([...exportStatuses]),
  row_count: Nullable(Integer({ minimum: 0, description: "counts up while it runs" })),
  size_bytes: Nullable(Integer({ minimum: 0, description: "of the file" })),
  progress: Nullable(Progress),
  error: Nullable(Text()),
  download_url: Nullable(Text({ description: "signed anew each time; null unless completed, and after `expires_at`" })),
  expires_at: Nullable(DateTime),
  requested_by: Nullable(Text({ description: "id of the key" })),
  created_at: DateTime,
  completed_at: Nullable(DateTime),
};

/** An export: a job that makes a file, of CSV but for `personal_data`. Source: docs/reference/exports.md. */
export const Export = Type.Object(members);
export type Export = Static<typeof Export>;

export const ExportPage = PageOf(Export);

export const exportPaging = pagingOf({ most: 100, sort: "-created_at" });

/** Query of `GET /v1/apps/{appId}/exports`. */
export const ExportListQuery = Type.Object(exportPaging.pageQuery);
export type ExportListQuery = Static<typeof ExportListQuery>;

/** Reply of `…/history`: the export, and the names that OneSignal's clients look for. */
export const HistoryExport = Type.Object({
  ...members,
  success: Literal(true),
  destination_url: Nullable(Text({ description: "the same as download_url" })),
});
export type HistoryExport = Static<typeof HistoryExport>;

/** Reply of `…/export_events`. */
export const EventsExport = Type.Object({
  ...members,
  csv_file_url: Nullable(Text({ description: "the same as download_url" })),
});
export type EventsExport = Static<typeof EventsExport>;

/** Query of `GET /v1/notifications/{messageId}/history`. */
export const HistoryQuery = Type.Object({
  app_id: Optional(Text({ minLength: 1, maxLength: 64 })),
  fresh: Optional(Flag({ description: "makes a new one; default false: the latest that has not expired" })),
});

/** Body of `POST /v1/notifications/{messageId}/history`: always a new one. */
export const CreateHistory = Closed({
  app_id: Optional(Text({ minLength: 1, maxLength: 64, description: "as the query's" })),
  email: Optional(
    Text({
      format: "email",
      maxLength: 254,
      description: "is mailed the link to the finished file; one of the app's setting export_emails",
    }),
  ),
  events: Optional(Enum(["sent", "clicked"], { description: "clicked: only deliveries with the status clicked" })),
});
export type CreateHistory = Static<typeof CreateHistory>;

/** Body of `POST /v1/notifications/{messageId}/export_events`. */
export const CreateEventsExport = Closed({
  events: Optional(Events),
  channel: Optional(ChannelName),
  from: Optional(DateTime),
  to: Optional(DateTime),
});
export type CreateEventsExport = Static<typeof CreateEventsExport>;

named({
  Export,
  ExportPage,
  CreateExport,
  HistoryExport,
  EventsExport,
  CreateHistory,
  CreateEventsExport,
});
