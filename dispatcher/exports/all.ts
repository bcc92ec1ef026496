import type { Db } from "mongodb";
import { headOf, linesOf } from "#core/domain/exports/csv.ts";
import type { ExportFilters, ExportType } from "#core/schema/exports/export.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import { deliveries } from "./deliveries.ts";
import { messageEvents } from "./message-events.ts";
import { subscriptions } from "./subscriptions.ts";
import { suppressions } from "./suppressions.ts";
import type { ExportSource } from "./type.ts";
import { users } from "./users.ts";

/** A file in the making: its first line, then the lines of each page with how many there are. */
export type Lines = { head: string; pages: (db: Db, of: OfApp, filters: ExportFilters) => AsyncIterable<LinePage> };

export type LinePage = { text: string; rows: number };

const linesFrom = <Row>({ columns, pages }: ExportSource<Row>): Lines => ({
  head: headOf(columns),
  async *pages(...asked) {
    for await (const rows of pages(...asked)) yield { text: linesOf(columns, rows), rows: rows.length };
  },
});

/** Every type that is exported; the others are `typesToCome`. */
export const exportLines: Readonly<Partial<Record<ExportType, Lines>>> = {
  users: linesFrom(users),
  subscriptions: linesFrom(subscriptions),
  deliveries: linesFrom(deliveries),
  message_events: linesFrom(messageEvents),
  suppressions: linesFrom(suppressions),
};
