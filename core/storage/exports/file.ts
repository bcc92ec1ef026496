import type { ExportRow } from "./exports.ts";

type Named = Pick<ExportRow, "_id" | "app_id" | "fence" | "compression">;

/** Where the file of an attempt is kept: each attempt has one of its own, so that two never write the same. */
export const exportFile = (row: Named): { key: string; contentType: string } => {
  const isPacked = row.compression === "gzip";
  return {
    key: `${exportFilePrefix(row)}${row.fence}.csv${isPacked ? ".gz" : ""}`,
    contentType: isPacked ? "application/gzip" : "text/csv; charset=utf-8",
  };
};

/** What the files of all attempts begin with. */
export const exportFilePrefix = ({ _id, app_id }: Pick<Named, "_id" | "app_id">): string => `exports/${app_id}/${_id}-`;
