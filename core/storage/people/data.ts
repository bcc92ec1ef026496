import type { Db, Document, FindCursor } from "mongodb";
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
  const shown = shownInboxes(db);
  return async (
    { tenantId, appId }: OfApp,
    keys: readonly string[],
    { mostBytes, now }: { mostBytes: number; now: Date },
  ): Promise<DataOfPerson | null> => {
    const of = { app_id: appId, tenant_id: tenantId };
    const whole = async <Row extends Document>(found: FindCursor<Row>): Promise<Row[] | null> => {
      const { rows, isWhole } = await readWithin(found, mostBytes);
      return isWhole ? rows : null;
    };
    const userIds = keys.filter((key) => key.startsWith("usr_"));
    const sent = { user_id: { $in: userIds }, sent_at: { $gt: longAgo, $lt: farAhead }, ...of };
    const [events, deliveries, suppressions, inbox] = await Promise.all([
      whole(
        collectionOf<EventRow>(db, eventCollection).find({ ...of, person: { $in: [...keys] } }, { hint: "history" }),
      ),
      whole(collectionOf<DeliveryRow>(db, deliveryCollection).find(sent, { hint: "sent_to" })),
      whole(
        collectionOf<SuppressionRow>(db, suppressionCollection).find(
          { ...of, people: { $in: [...keys] } },
          { hint: "people" },
        ),
      ),
      shown({ tenantId, appId }, userIds[0] ?? "", { now }), // a merge has made theirs what was another's
    ]);
    return events === null || deliveries === null || suppressions === null
      ? null
      : { events, deliveries, suppressions, inbox: inbox.items };
  };
};
