import type { Collection, Db, Filter } from "mongodb";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew, oneWriter, unlessTaken } from "../mongo/duplicate.ts";
import type { Changeable } from "../work/intended-changes.ts";
import type { Managed } from "./managed.ts";

/** Something that is set up over the REST interface or by a custom resource. */
export type OwnedRow = Changeable & {
  _id: string;
  tenant_id: string;
  managed: Managed | null;
  created_at: Date;
  updated_at: Date;
};

/** Such a thing of an app. */
export type SettingRow = OwnedRow & { app_id: string };

/** What a change writes: the new values of members. */
export type SettingChange<Row> = { set: Partial<Row> };

/** What the REST interface does to things of one kind. */
export type OwnedRows<Row extends OwnedRow> = {
  /** The collection's name. */
  name: string;
  /** Of an app; where they are no app's, of a tenant. */
  count: (ownerId: string) => Promise<number>;
  /** One as it is now; null when it is gone. */
  reread: (row: Row) => Promise<Row | null>;
  /** False when there is one of this id, or of another unique member. */
  insert: (row: Row) => Promise<boolean>;
  /** Writes to one that nobody has changed since it was read; null otherwise, `taken` when a unique member is another's. */
  change: (read: Row, change: SettingChange<Row>) => Promise<Row | "taken" | null>;
  /** Removes one that nobody has changed since it was read; false otherwise. */
  remove: (read: Row) => Promise<boolean>;
  /** Removes one that was only just made, whatever became of it. */
  takeBack: (row: Row) => Promise<void>;
};

/** What the REST interface does to the settings of apps. */
export type AppSettings<Row extends SettingRow> = OwnedRows<Row> & {
  /** An app's in the order of creation. */
  ofApp: (of: OfApp) => Promise<Row[]>;
  find: (of: OfApp, id: string) => Promise<Row | null>;
};

/** `hint` is the index that finds an app's: the planner would not always take it. */
export const appSettings = <Row extends SettingRow>(db: Db, spec: CollectionSpec, hint: string): AppSettings<Row> => {
  const rows = collectionOf<SettingRow>(db, spec);
  const alone = oneWriter();
  const store: AppSettings<SettingRow> = {
    ...ownedRows(rows),

    ofApp: async ({ tenantId, appId }) => {
      const found = await rows.find({ app_id: appId, tenant_id: tenantId }, { hint }).toArray();
      return found.sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1));
    },

    // One by one, a hundred or so at most: the server does not take the index for a count.
    count: async (appId) => (await rows.find({ app_id: appId }, { projection: { _id: 1 }, hint }).toArray()).length,

    find: ({ tenantId, appId }, id) => rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId }),

    insert: (row) => alone(row.app_id, () => insertNew(rows, row)),
  };
  return store as unknown as AppSettings<Row>; // sound: the collection holds such rows, and no member is left out
};

/** Writes to things that nobody has changed since they were read. */
export const ownedRows = <Row extends OwnedRow>(collection: Collection<Row>): Omit<OwnedRows<Row>, "count"> => {
  const rows = collection as unknown as Collection<OwnedRow>; // the driver's types cannot see through a generic row
  const asRead = ({ _id, tenant_id, updated_at }: OwnedRow): Filter<OwnedRow> => ({ _id, tenant_id, updated_at });
  const store: Omit<OwnedRows<OwnedRow>, "count"> = {
    name: collection.collectionName,

    reread: ({ _id, tenant_id }) => rows.findOne({ _id, tenant_id }),

    insert: (row) => insertNew(rows, row),

    change: (read, { set }) =>
      unlessTaken(
        () => rows.findOneAndUpdate(asRead(read), { $set: set }, { returnDocument: "after" }),
        "taken" as const,
      ),

    remove: async (read) => (await rows.deleteOne(asRead(read))).deletedCount === 1,

    takeBack: async ({ _id, tenant_id }) => void (await rows.deleteOne({ _id, tenant_id })),
  };
  return store as unknown as Omit<OwnedRows<Row>, "count">; // sound: as above
};
