import type { Db } from "mongodb";
import { dateOf } from "#core/domain/clock.ts";
import type { ExportFilters } from "#core/schema/exports/export.ts";
import { type EventRow, events as eventStore } from "#core/storage/events/events.ts";
import { exportPage } from "#core/storage/exports/pages.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { ExportSource } from "./type.ts";

/** `from` and `to` are of the instant at which an event happened. */
export const events: ExportSource<EventRow> = {
  columns: [
    { name: "id", of: (row) => row._id },
    { name: "user_id", of: (row) => row.user_id },
    { name: "subscription_id", of: (row) => row.subscription_id },
    { name: "name", of: (row) => row.name },
    { name: "properties", of: (row) => row.properties ?? "{}" }, // JSON already
    { name: "value", of: (row) => row.value },
    { name: "source", of: (row) => row.source },
    { name: "occurred_at", of: (row) => row.occurred_at },
  ],
  async *pages(db, of, filters) {
    for await (const name of namesOf(db, of, filters)) yield* eventsOf(db, of, name, filters);
  },
};

/** The name that is asked for, or all names of an app's events. */
async function* namesOf(db: Db, of: OfApp, { name }: ExportFilters): AsyncGenerator<string> {
  if (name !== undefined) return yield name;
  const { nextName } = eventStore(db);
  for (let next = await nextName(of, ""); next !== null; next = await nextName(of, next)) yield next;
}

async function* eventsOf(db: Db, of: OfApp, name: string, filters: ExportFilters): AsyncGenerator<EventRow[]> {
  const { page } = eventStore(db);
  const wanted = { ...of, name, from: dateOf(filters.from), to: dateOf(filters.to), limit: exportPage };
  for (let after: Parameters<typeof page>[0]["after"] = null; ; ) {
    const rows: EventRow[] = await page({ ...wanted, after });
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < exportPage) return;
    after = { occurredAt: last.occurred_at, id: last._id };
  }
}
