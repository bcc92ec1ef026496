import type { AnyBulkWriteOperation, Collection } from "mongodb";
import { erasedBody, erasedSubject } from "../../domain/people/erased.ts";
import type { Person } from "../mongo/collection.ts";
import { findIds, type OnPage } from "../mongo/pages.ts";
import { peopleIn, type StoredPeople, storedPeople } from "./people.ts";

/** What of a delivery says whom it is about. */
type DeliveryRow = {
  _id: string;
  app_id: string;
  payload: string;
  people: StoredPeople;
  subject_id: string | null;
  event_type: string;
  due_at: Date | null;
};
type Deliveries = Collection<DeliveryRow>;

const pageRows = 100; // 6.4 MB of payloads at most
const pageIds = 10_000;

/**
 * Erases a person from the deliveries of their app: what waits to be sent is still sent, erased. Only `user.deleted`
 * keeps their ids until it has arrived: how many such deliveries wait is returned. Until the last pass the user's id
 * marks what was erased, so that the next pass finds it. May run twice.
 * @throws what `onPage` throws
 */
export const eraseDeliveries = async (rows: Deliveries, person: Person, onPage?: OnPage): Promise<number> => {
  let waiting = 0;
  let ids = await idsAfter(rows, person, "");
  while (ids.length > 0) {
    for (let from = 0; from < ids.length; from += pageRows) {
      const page = ids.slice(from, from + pageRows);
      waiting += await erasePage(rows, person, page);
      onPage?.(page.length);
    }
    ids = ids.length < pageIds ? [] : await idsAfter(rows, person, ids.at(-1) ?? "");
  }
  return waiting;
};

/** The ids first: the rows are written while they are gone through. */
const idsAfter = (rows: Deliveries, { appId, keys }: Person, after: string): Promise<string[]> => {
  const about = { app_id: appId, people: { $in: [...keys] }, _id: { $gt: after } };
  return findIds(rows, about, { hint: "people", sort: { _id: 1 }, limit: pageIds });
};

const members = { payload: 1, people: 1, subject_id: 1, event_type: 1, due_at: 1 } as const;

type Read = Pick<DeliveryRow, "_id" | keyof typeof members>;

/** How many of a page are of `user.deleted`, and wait to be sent. */
const erasePage = async (rows: Deliveries, person: Person, ids: readonly string[]): Promise<number> => {
  const page = await rows.find({ _id: { $in: [...ids] } }, { projection: members, batchSize: pageRows + 1 }).toArray();
  const changes = page.filter((row) => !isOfDeletion(row)).flatMap((row) => erasing(row, person));
  if (changes.length > 0) await rows.bulkWrite(changes, { ordered: false });
  return page.filter(isOfDeletion).length;
};

const isOfDeletion = ({ event_type, due_at }: Read): boolean => event_type === "user.deleted" && due_at !== null;

const erasing = (row: Read, person: Person): AnyBulkWriteOperation<DeliveryRow>[] => {
  const body = erasedBody({ text: row.payload, people: peopleIn(row.people) }, person);
  if (body === null) return [];
  const set = {
    payload: body.text,
    subject_id: erasedSubject(row.subject_id, person),
    people: storedPeople(person.isLast ? body.people : [...body.people, person.userId]),
    "attempts.$[].response_body_excerpt": null,
    "attempts.$[].error": null,
  };
  return [{ updateOne: { filter: { _id: row._id }, update: { $set: set } } }];
};
