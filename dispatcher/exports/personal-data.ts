import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { conversationOfPerson, messageOfPerson, noteOfPerson } from "#core/domain/conversations/personal-data.ts";
import { deliveryView } from "#core/domain/messages/delivery-view.ts";
import {
  addressesOf,
  eventOfPerson,
  inAppEventOfPerson,
  inboxOf,
  sessionsOfPerson,
} from "#core/domain/people/personal-data.ts";
import { userView } from "#core/domain/people/views.ts";
import { suppressionView } from "#core/domain/suppressions/views.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { inboxOfPerson, pagesOfPerson } from "#core/storage/people/data.ts";
import { keysOfPerson } from "#core/storage/people/removal.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { users } from "#core/storage/people/users.ts";
import type { LinePage } from "./lines.ts";

/** They were deleted before their data was written. */
export class PersonGone extends Error {
  constructor() {
    super("the user is gone");
  }
}

/** What is stored about a person as one document of JSON, page by page: as `GET …/data` shows it. @throws PersonGone */
export async function* personalData(db: Db, row: ExportRow, clock: Clock): AsyncGenerator<LinePage> {
  const of = ofRow(row);
  const user = await users(db).find(of, "user_id", row.person ?? "");
  if (user === null) throw new PersonGone();
  const owned = await subscriptions(db).ofUser(of, user._id);
  const keys = keysOfPerson(user, owned);
  const stored = pagesOfPerson(db)(of, keys);
  const head = { user: userView(user, owned), addresses: addressesOf(owned) };
  yield text(JSON.stringify(head).slice(0, -1));
  yield* list("suppressions", stored.suppressions, suppressionView);
  yield* list("events", stored.events, eventOfPerson);
  yield* list("deliveries", stored.deliveries, deliveryView);
  yield* list("in_app_events", stored.in_app_events, inAppEventOfPerson);
  yield* list("sessions", stored.sessions, sessionsOfPerson);
  yield* list("conversations", stored.conversations, conversationOfPerson);
  yield* list("conversation_messages", stored.conversation_messages, messageOfPerson);
  yield* list("conversation_notes", stored.conversation_notes, noteOfPerson);
  const inbox = inboxOf(await inboxOfPerson(db)(of, keys, clock.now()));
  yield text(`,"inbox":${JSON.stringify(inbox)},"generated_at":${JSON.stringify(clock.now())}}\n`);
}

const text = (written: string, rows = 0): LinePage => ({ bytes: Buffer.from(written), rows });

/** A member whose items are written as they are read. */
async function* list<Row>(
  name: string,
  pages: AsyncIterable<Row[]>,
  view: (row: Row) => object,
): AsyncGenerator<LinePage> {
  let before = "";
  yield text(`,"${name}":[`);
  for await (const page of pages) {
    yield text(before + page.map((row) => JSON.stringify(view(row))).join(","), page.length);
    before = ",";
  }
  yield text("]");
}
