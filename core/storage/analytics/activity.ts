import type { Db } from "mongodb";
import { dayMs, quarterMs } from "../../domain/durations.ts";
import { touchesByPeople } from "../../domain/messages/touches.ts";
import { type EventRow, eventCollection } from "../events/events.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { collectionOf, farAhead, longAgo, type OfApp } from "../mongo/collection.ts";
import { monthOf, type SessionMonthRow, sessionMonthCollection } from "../people/session-months.ts";
import { changesOf } from "../warehouse/changes.ts";

/** Half-open. */
type Range = { from: Date; to: Date };

/** Under which id of ours a user was active, and when. */
export type Active = { user: string; at: Date };

/** An open is stored at the instant that its provider names, whose clock may be ahead of ours. */
const aheadMs = dayMs;

const touchMembers = ["user_id", "opened_at", "clicked_at", "opens", "clicks"] as const;

/**
 * When users were active: their devices began a session, by the quarter of an hour; they opened a message or clicked in one; an
 * event came from one of their devices. In no order, and the same may come several times: what changes while it is read is read again.
 * Only jobs read it, page by page. Source: docs/decisions/0240.
 */
export async function* activityOf(db: Db, of: OfApp, range: Range): AsyncGenerator<Active> {
  yield* sessions(db, of, range);
  yield* touches(db, of, range);
  yield* deviceEvents(db, of, range);
}

async function* sessions(db: Db, { tenantId, appId }: OfApp, { from, to }: Range): AsyncGenerator<Active> {
  const rows = collectionOf<SessionMonthRow>(db, sessionMonthCollection);
  const month = { $gte: monthOf(from), $lt: to };
  const filter = { app_id: appId, user_id: { $gt: "" }, month, tenant_id: tenantId };
  const found = rows.find(filter, { hint: "user" }).sort({ user_id: 1, month: 1 });
  for await (const { user_id: user, month: begun, quarters } of found)
    for (const quarter of quarters) yield { user, at: new Date(begun.getTime() + quarter * quarterMs) };
}

/** Opens and clicks of deliveries that are stored; those of programs are none. */
async function* touches(db: Db, of: OfApp, { from, to }: Range): AsyncGenerator<Active> {
  const first = { $gt: longAgo, $lt: to };
  const pages = changesOf(collectionOf<DeliveryRow>(db, deliveryCollection), {
    of,
    from: new Date(from.getTime() - aheadMs),
    to: farAhead,
    after: null,
    members: touchMembers,
    by: "updated_at",
    narrowed: { user_id: { $gt: "" }, $and: [{ $or: [{ opened_at: first }, { clicked_at: first }] }] },
  });
  for await (const page of pages)
    yield* page.flatMap(({ user_id: user, ...delivery }) =>
      user === null ? [] : touchesByPeople(delivery).map((at) => ({ user, at })),
    );
}

async function* deviceEvents(db: Db, of: OfApp, { from, to }: Range): AsyncGenerator<Active> {
  const pages = changesOf(collectionOf<EventRow>(db, eventCollection), {
    of,
    from: new Date(from.getTime() - aheadMs),
    to: farAhead,
    after: null,
    members: ["user_id", "occurred_at"],
    by: "stored_at",
    narrowed: { user_id: { $gt: "" }, source: "sdk", occurred_at: { $gte: from, $lt: to } },
  });
  for await (const page of pages) for (const { user_id: user = "", occurred_at: at } of page) yield { user, at };
}
