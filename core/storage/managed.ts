import { isDeepStrictEqual } from "node:util";
import type { Collection } from "mongodb";
import { isDuplicateKey } from "./duplicate.ts";

/** The resource that enforces a document; a REST write to it is refused with 409 `HS_MANAGED`. */
export type Managed = {
  kind: string;
  namespace: string | null;
  name: string;
  uid: string;
  policy: "Enforce" | "CreateOnly";
};

/** A document that a custom resource can stand for. */
export type ManagedRow = { _id: string; managed: Managed | null; updated_at: Date };

export type WantedRow<Row extends ManagedRow> = {
  id: string;
  managed: Managed;
  /** Members that the resource enforces. */
  set: Partial<Row>;
  /** Members that a new document begins with; later they are others' to change. */
  begin: Partial<Row>;
};

/** `foreign`: another resource's document; `taken`: a unique member, e.g. the name, is another document's. */
export type Kept = "created" | "updated" | "unchanged" | "foreign" | "taken";

export type ManagedRows<Row extends ManagedRow> = {
  find: (id: string) => Promise<Row | null>;
  /** Makes the document as wanted, and writes only when something differs. */
  keep: (wanted: WantedRow<Row>, now: Date) => Promise<Kept>;
  /** Removes the resource's document; false when it was gone already, or another's. */
  remove: (id: string, uid: string) => Promise<boolean>;
  /** Leaves the document as it is, no longer managed. */
  release: (id: string, uid: string, now: Date) => Promise<boolean>;
};

/** What the operator does with the documents of a collection. */
export const managedRows = <Row extends ManagedRow>(collection: Collection<Row>): ManagedRows<Row> => {
  // The driver's types cannot see through a generic row; what goes in and out is typed by Row above.
  const rows = collection as unknown as Collection<Stored>;
  return {
    find: (id) => rows.findOne({ _id: id }) as Promise<Row | null>,
    keep: async (wanted, now) => {
      const found = await rows.findOne({ _id: wanted.id });
      if (found === null) return create(rows, wanted, now);
      if (found.managed !== null && !isSameObject(found.managed, wanted.managed)) return "foreign";
      return update(rows, { found, wanted, now });
    },
    remove: async (id, uid) => (await rows.deleteOne({ _id: id, "managed.uid": uid })).deletedCount === 1,
    release: async (id, uid, now) => {
      const change = { $set: { managed: null, updated_at: now } };
      return (await rows.updateOne({ _id: id, "managed.uid": uid }, change)).matchedCount === 1;
    },
  };
};

type Stored = { _id: string; managed: Managed | null; [member: string]: unknown };
type Wanted = { id: string; managed: Managed; set: object; begin: object };

/** Another uid under the same name: the former object is gone, and the document is its successor's. */
const isSameObject = (a: Managed, b: Managed): boolean =>
  a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;

const create = async (rows: Collection<Stored>, { id, managed, set, begin }: Wanted, now: Date): Promise<Kept> => {
  const row: Stored = { _id: id, ...begin, ...set, managed, updated_at: now };
  return unlessTaken("created", () => rows.insertOne(row));
};

const update = async (
  rows: Collection<Stored>,
  { found, wanted, now }: { found: Stored; wanted: Wanted; now: Date },
): Promise<Kept> => {
  const { managed } = wanted;
  const members = Object.entries({ ...wanted.set, managed });
  const differing = members.filter(([name, value]) => !isDeepStrictEqual(found[name], value));
  if (differing.length === 0) return "unchanged";
  const change = { $set: { ...Object.fromEntries(differing), updated_at: now } };
  return unlessTaken("updated", async () => {
    const owner = found.managed === null ? { managed: null } : { "managed.uid": found.managed.uid };
    const { matchedCount } = await rows.updateOne({ _id: found._id, ...owner }, change);
    if (matchedCount === 0) throw new Error(`${rows.collectionName} ${found._id} changed hands while it was written`);
  });
};

const unlessTaken = async (kept: Kept, write: () => Promise<unknown>): Promise<Kept> => {
  try {
    await write();
    return kept;
  } catch (error) {
    if (isDuplicateKey(error)) return "taken";
    throw error;
  }
};
