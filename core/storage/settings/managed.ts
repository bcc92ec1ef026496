import { isDeepStrictEqual } from "node:util";
import type { Collection, Filter } from "mongodb";
import { AppError } from "../../errors.ts";
import { insertNew, unlessTaken } from "../mongo/duplicate.ts";
import { byId } from "../mongo/loader.ts";

/** The resource that stands for a document; when it enforces it, a REST write is refused with 409 `HS_MANAGED`. */
export type Managed = {
  kind: string;
  namespace: string | null;
  name: string;
  uid: string;
  /** `CreateOnly`: made from the resource, and since then the REST interface's to change. */
  policy: "Enforce" | "CreateOnly";
  /** What becomes of the document when its resource goes. */
  deletion: "Delete" | "Retain";
  /** The term of the operator's leader that last wrote it. */
  epoch: number;
  /** The document was there before its resource. Absent: it was made for a resource. */
  adopted?: true;
  /** The members that the resource names, and so owns: the REST interface owns the rest. Absent: it owns all of them. */
  members?: string[];
};

/** A document that a custom resource can stand for. */
export type ManagedRow = { _id: string; managed: Managed | null; updated_at: Date };

/** What keeps the writes of a leader from before apart from ours. */
export type Fence = {
  /** The number of this process's term; it grows whenever another process takes the lead. */
  epoch: () => number;
  /** @throws Deposed when this process may no longer be the leader. */
  check: () => void;
};

/** Another process leads by now: what this one was about to write must not be written. */
export class Deposed extends Error {
  constructor(what: string) {
    super(`${what}: another process leads by now`);
    this.name = "Deposed";
  }
}

/** A later leader wrote the document, and yet this process leads: the documents were restored from a backup meanwhile. */
export class LaterEpoch extends AppError {
  constructor(what: string) {
    super(
      "HS_CONFLICT",
      `${what} is of a later term than this one, e.g. restored from a backup; the next term takes it up`,
    );
  }
}

export type RecordWrite<Row extends ManagedRow> = {
  id: string;
  /** The document as it was found; null when there was none. */
  found: Row | null;
  managed: Omit<Managed, "epoch">;
  /** Members that the resource enforces. */
  set: Partial<Row>;
  /** Members that a new document begins with; later they are others' to change. */
  begin: Partial<Row>;
};

/** `taken`: a unique member, e.g. the name, is another document's. */
export type WriteResult = "created" | "updated" | "unchanged" | "taken";

export type ManagedRows<Row extends ManagedRow> = ReturnType<typeof managedRows<Row>>;

/** What the operator does with the documents of a collection. Each write is refused to a leader from before. */
export const managedRows = <Row extends ManagedRow>(collection: Collection<Row>, fence: Fence) => {
  const rows = storedIn(collection);
  const mine = (id: string, uid: string) => ({ _id: id, "managed.uid": uid, "managed.epoch": { $lte: fence.epoch() } });
  return {
    find: byId(collection),
    /** Makes the document as wanted, and writes only when something differs from what was found. */
    keep: async (wanted: RecordWrite<Row>, now: Date): Promise<WriteResult> => {
      fence.check();
      const managed = { ...wanted.managed, epoch: fence.epoch(), ...adoptionOf(wanted.found) };
      return wanted.found === null
        ? create(rows, { ...wanted, managed }, { fence, now })
        : update(rows, { ...wanted, found: wanted.found, managed }, { fence, now });
    },
    /** Removes the resource's document; false when it was gone already, or another's. */
    remove: async (id: string, uid: string): Promise<boolean> => {
      fence.check();
      const { deletedCount } = await rows.deleteOne(mine(id, uid));
      if (deletedCount === 0) await refuseLater(rows, { id, uid, fence });
      return deletedCount === 1;
    },
    /** Leaves the document as it is, no longer managed; false as for `remove`. */
    release: async (id: string, uid: string, now: Date): Promise<boolean> => {
      fence.check();
      const change = { $set: { managed: null, updated_at: now } };
      const { matchedCount } = await rows.updateOne(mine(id, uid), change);
      if (matchedCount === 0) await refuseLater(rows, { id, uid, fence });
      return matchedCount === 1;
    },
  };
};

const adoptionOf = (found: ManagedRow | null): { adopted?: true } =>
  found !== null && (found.managed === null || found.managed.adopted === true) ? { adopted: true } : {};

/** Makes every managed document one of this term, so that leaders from before can write none of them any more. */
export const stampEpoch = async <Row extends ManagedRow>(collection: Collection<Row>, epoch: number): Promise<void> => {
  const isOlder = { $or: [{ "managed.epoch": { $lt: epoch } }, { "managed.epoch": null }] }; // null: not there at all
  const change = { $set: { "managed.epoch": epoch } };
  await storedIn(collection).updateMany({ ...isManaged, ...isOlder }, change, { hint: "managed" });
};

/** A document whose resource is gone, although nobody has seen to the document. */
export type Orphan = { id: string; managed: Managed; appId: string | undefined };

/** The documents whose resource `isKnown` does not know by its uid; at most `limit`. */
export const orphans = async <Row extends ManagedRow>(
  collection: Collection<Row>,
  isKnown: (uid: string) => boolean,
  limit = 1_000,
): Promise<Orphan[]> => {
  const found: Orphan[] = [];
  const managed = storedIn(collection).find(isManaged, { projection: { managed: 1, app_id: 1 }, hint: "managed" });
  for await (const { _id: id, managed: by, app_id: app } of managed) {
    const appId = typeof app === "string" ? app : undefined;
    if (by !== null && !isKnown(by.uid)) found.push({ id, managed: by, appId });
    if (found.length === limit) break;
  }
  return found;
};

type Stored = { _id: string; managed: Managed | null; [member: string]: unknown };

/** As the index `managed` has them. */
const isManaged = { "managed.uid": { $gt: "" } };

type ManagedWrite = { id: string; managed: Managed; set: object; begin: object };
type Writing = { fence: Fence; now: Date };

/** The driver's types cannot see through a generic row; what goes in and out is typed by the callers. */
const storedIn = <Row extends ManagedRow>(collection: Collection<Row>): Collection<Stored> =>
  collection as unknown as Collection<Stored>;

/** That nothing matched may mean that a later leader wrote the document: then nothing may follow from it. */
const refuseLater = async (
  rows: Collection<Stored>,
  { id, uid, fence }: { id: string; uid: string; fence: Fence },
): Promise<void> => {
  const later = { _id: id, "managed.uid": uid, "managed.epoch": { $gt: fence.epoch() } };
  if ((await rows.countDocuments(later, { limit: 1 })) === 0) return;
  fence.check();
  throw new LaterEpoch(`${rows.collectionName} ${id}`);
};

/** A document that slipped in after the term was over is taken back. */
const create = async (
  rows: Collection<Stored>,
  { id, managed, set, begin }: ManagedWrite,
  { fence, now }: Writing,
): Promise<WriteResult> => {
  const row: Stored = { _id: id, ...begin, ...set, managed, updated_at: now };
  const kept = (await insertNew(rows, row)) ? "created" : "taken";
  try {
    fence.check();
  } catch (error) {
    if (kept === "created")
      await rows.deleteOne({ _id: id, "managed.uid": managed.uid, "managed.epoch": managed.epoch });
    throw error;
  }
  return kept;
};

/** The members of a document that are to be other than they are. */
export const differingMembers = (found: ManagedRow, set: object): [name: string, value: unknown][] => {
  const before = new Map<string, unknown>(Object.entries(found));
  return Object.entries(set).filter(([name, value]) => !isDeepStrictEqual(before.get(name), value));
};

const update = (
  rows: Collection<Stored>,
  { found, managed, set }: ManagedWrite & { found: ManagedRow },
  { fence, now }: Writing,
): Promise<WriteResult> => {
  const differing = differingMembers(found, { ...set, managed });
  if (differing.length === 0) return Promise.resolve("unchanged");
  const write = async (): Promise<WriteResult> => {
    const change = { $set: { ...Object.fromEntries(differing), updated_at: now } };
    const { matchedCount } = await rows.updateOne({ _id: found._id, ...asFound(found, managed) }, change);
    if (matchedCount === 1) return "updated";
    await refuseLater(rows, { id: found._id, uid: found.managed?.uid ?? "", fence });
    throw new Error(`${rows.collectionName} ${found._id} changed while it was written`);
  };
  return unlessTaken(write, "taken");
};

/** Still the same resource's, or nobody's, and no later leader's; unchanged where the REST interface may change it. */
const asFound = ({ managed, updated_at }: ManagedRow, wanted: Managed): Filter<Stored> => {
  if (managed === null) return { managed, updated_at };
  const isMine = { "managed.uid": managed.uid, "managed.epoch": { $lte: wanted.epoch } };
  const isAllMine = managed.policy === "Enforce" && wanted.members === undefined;
  return isAllMine ? isMine : { ...isMine, updated_at };
};
