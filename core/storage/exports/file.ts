import type { ExportRow } from "./export-row.ts";

type Named = Pick<ExportRow, "_id" | "app_id" | "fence" | "compression" | "type">;

/** Where the file of an attempt is kept: each attempt has one of its own, so that two never write the same. */
export const exportFile = (row: Named): { key: string; contentType: string } => {
  const plain = row.type === "personal_data" ? "application/json" : "text/csv; charset=utf-8";
  return {
    key: `${exportFilePrefix(row)}${row.fence}${exportEnding(row)}`,
    contentType: row.compression === "gzip" ? "application/gzip" : plain,
  };
};

/** What the name of a file ends with. */
export const exportEnding = ({ type, compression }: Pick<Named, "type" | "compression">): string =>
  `${type === "personal_data" ? ".json" : ".csv"}${compression === "gzip" ? ".gz" : ""}`;

/** What the files of all attempts begin with. */
export const exportFilePrefix = ({ _id, app_id }: Pick<Named, "_id" | "app_id">): string => `exports/${app_id}/${_id}-`;
