import { BSON, type Db, type Document, type FindCursor } from "mongodb";
import { type EventRow, eventCollection } from "../events/events.ts";
import { type ShownItem, shownInboxes } from "../inbox/shown.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { collectionOf, farAhead, longAgo, type OfApp } from "../mongo/collection.ts";
import { readWithin } from "../mongo/read-within.ts";
import type { SuppressionRow } from "../suppressions/suppression-row.ts";
import { suppressionCollection } from "../suppressions/suppressions.ts";

/** A person's documents beside their own and their subscriptions'. */
export type DataOfPerson = {
  events: EventRow[];
  deliveries: DeliveryRow[];
  suppressions: SuppressionRow[];
  inbox: ShownItem[];
};

/** Reads what is stored about a person, by the keys that a removal would write down; null when that is more than `mostBytes`. */
export const dataOfPerson = (db: Db) => {
  const shown = inboxOfPerson(db);
  return async (
    of: OfApp,
    keys: readonly string[],
    { mostBytes, now }: { mostBytes: number; now: Date },
  ): Promise<DataOfPerson | null> => {
    const whole = async <Row extends Document>(found: FindCursor<Row>): Promise<Row[] | null> => {
      const { rows, isWhole } = await readWithin(found, mostBytes);
      return isWhole ? rows : null;
    };
    const found = cursorsOf(db, of, keys);
    const [events, deliveries, suppressions, inbox] = await Promise.all([
      whole(found.events),
      whole(found.deliveries),
      whole(found.suppressions),
      shown(of, keys, now),
    ]);
    return events === null || deliveries === null || suppressions === null
      ? null
      : { events, deliveries, suppressions, inbox };
  };
};

/** What a person's inbox shows: a bounded number of items. */
export const inboxOfPerson = (db: Db) => {
  const shown = shownInboxes(db);
  return async (of: OfApp, keys: readonly string[], now: Date): Promise<ShownItem[]> =>
    (await shown(of, ownIds(keys)[0] ?? "", { now })).items; // a merge has made theirs what was another's
};

const ownIds = (keys: readonly string[]): string[] => keys.filter((key) => key.startsWith("usr_"));

/** The same without a bound, in pages of 500 at most, which are read as they are asked for. */
export const pagesOfPerson =
  (db: Db) =>
  (of: OfApp, keys: readonly string[]): { [Name in Unbounded]: AsyncIterable<DataOfPerson[Name]> } => {
    const { events, deliveries, suppressions } = cursorsOf(db, of, keys);
    return { events: paged(events), deliveries: paged(deliveries), suppressions: paged(suppressions) };
  };

type Unbounded = "events" | "deliveries" | "suppressions";

const cursorsOf = (db: Db, { tenantId, appId }: OfApp, keys: readonly string[]) => {
  const of = { app_id: appId, tenant_id: tenantId };
  const userIds = ownIds(keys);
  const person = { $in: [...keys] };
  const sent = { user_id: { $in: userIds }, sent_at: { $gt: longAgo, $lt: farAhead }, ...of };
  return {
    events: collectionOf<EventRow>(db, eventCollection).find({ ...of, person }, { hint: "history" }),
    deliveries: collectionOf<DeliveryRow>(db, deliveryCollection).find(sent, { hint: "sent_to" }),
    suppressions: collectionOf<SuppressionRow>(db, suppressionCollection).find(
      { ...of, people: person },
      { hint: "people" },
    ),
  };
};

const pageBytes = 1_000_000; // and a document more

async function* paged<Row extends Document>(found: FindCursor<Row>): AsyncGenerator<Row[]> {
  let [page, bytes]: [Row[], number] = [[], 0];
  for await (const row of found.batchSize(pageRows)) {
    page.push(row);
    bytes += BSON.calculateObjectSize(row);
    if (page.length < pageRows && bytes < pageBytes) continue;
    yield page;
    [page, bytes] = [[], 0];
  }
  if (page.length > 0) yield page;
}

const pageRows = 500;
