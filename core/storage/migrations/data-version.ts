import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { firstVersion } from "./migration.ts";

/** The version of all that is stored, and the oldest version whose programs can work with it. */
export type DataVersion = { version: number; readable_from: number };

type DataVersionRow = DataVersion & { _id: string };

const id = "data"; // of the one document

export const dataVersionCollection: CollectionSpec = {
  name: "data_version",
  indexes: [],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "two documents" },
};

/** Reads the version. Where none is kept yet, nothing is stored, or nothing that is older than the first release. */
export const dataVersion = async (db: Db): Promise<DataVersion> => {
  const rows = collectionOf<DataVersionRow>(db, dataVersionCollection);
  const found = await rows.findOne({ _id: id });
  if (found !== null) return found;
  const first = { version: firstVersion, readable_from: firstVersion };
  await insertNew(rows, { _id: id, ...first });
  return first;
};

/** Keeps a later version. Does nothing where it, or one after it, is kept already. */
export const raiseDataVersion = async (db: Db, { version, readable_from }: DataVersion): Promise<void> => {
  const rows = collectionOf<DataVersionRow>(db, dataVersionCollection);
  await rows.updateOne({ _id: id, version: { $lt: version } }, { $set: { version, readable_from } });
};
