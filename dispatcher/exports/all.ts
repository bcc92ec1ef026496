import type { Db } from "mongodb";
import type { ExportFilters, ExportType } from "#core/schema/exports/export.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { FactsOf } from "#core/storage/segments/facts.ts";
import { conversationMessages } from "./conversation-messages.ts";
import { conversations } from "./conversations.ts";
import { deliveries } from "./deliveries.ts";
import { events } from "./events.ts";
import { type LinePage, linesOf } from "./lines.ts";
import { messageEvents } from "./message-events.ts";
import { subscriptions } from "./subscriptions.ts";
import { suppressions } from "./suppressions.ts";
import { users } from "./users.ts";

/** A file in the making: the line of its columns, then the lines of each page. */
export type Lines = (db: Db, of: OfApp, filters: ExportFilters, factsOf: FactsOf) => AsyncIterable<LinePage>;

/** Every type. */
export const exportLines: Readonly<Record<ExportType, Lines>> = {
  users: linesOf(users),
  subscriptions: linesOf(subscriptions),
  events: linesOf(events),
  deliveries: linesOf(deliveries),
  message_events: linesOf(messageEvents),
  suppressions: linesOf(suppressions),
  conversations: linesOf(conversations),
  conversation_messages: linesOf(conversationMessages),
};
