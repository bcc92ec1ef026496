import type { Db } from "mongodb";

/** A document of settings knows the latest changes that were made of it and are reported; absent until one was. */
export type Changeable = { change_ids?: string[] };

/** A change whose events are stored before it is made. */
export type IntendedChange = {
  collection: string;
  document_id: string;
  kind: "made" | "changed" | "removed";
};

const rememberedChanges = 10; // of one document while their events wait; beyond that a change counts as made

/** The member that a change writes with all others, so that it is known later whether it was made. */
export const rememberChange = ({ change_ids: former = [] }: Changeable, id: string): Required<Changeable> => ({
  change_ids: [...former, id].slice(-rememberedChanges),
});

/** Whether a change was made. When that cannot be known any more, as its document is gone since, it was. */
export const changeWasMade =
  (db: Db) =>
  async (id: string, { collection, document_id, kind }: IntendedChange): Promise<boolean> => {
    const rows = db.collection<Changeable & { _id: string }>(collection);
    const row = await rows.findOne({ _id: document_id }, { projection: { change_ids: 1 } });
    switch (kind) {
      case "made":
        return row !== null; // nothing was there before: nothing there, nothing made
      case "changed":
        return row === null || remembers(row, id);
      case "removed":
        return row === null;
    }
  };

/** Ids grow with time: one that is older than all of a full list may have been among them. */
const remembers = ({ change_ids: ids = [] }: Changeable, id: string): boolean =>
  ids.includes(id) || (ids.length === rememberedChanges && (ids[0] ?? "") > id);
