import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";

const { Enum, Integer, Optional, String: Text } = Type;

/** What a file is: an export of OneSignal's, or users and addresses in our own columns. Source: docs/reference/imports.md#types. */
export const importTypes = ["thirdparty_players", "csv_users"] as const;
export type ImportType = (typeof importTypes)[number];

export const importStatuses = ["pending", "running", "completed", "failed"] as const;
export type ImportStatus = (typeof importStatuses)[number];

/** What the `error` of a failed import begins with. Source: docs/reference/imports.md#states. */
export const importErrorCodes = [
  "HS_VALIDATION_ERROR",
  "HS_IMPORT_TOO_LARGE",
  "HS_QUOTA_EXCEEDED",
  "HS_CANCELLED",
  "HS_NOT_FOUND",
  "HS_INTERNAL_ERROR",
] as const;
export type ImportErrorCode = (typeof importErrorCodes)[number];

/** Bounds of imports. Source: docs/reference/limits.md#imports. */
export const importLimits = {
  fileBytes: 50 * 1024 * 1024,
  inflatedBytes: 1024 * 1024 * 1024,
  inflatedTimes: 200, // deflate packs 1:1032 at best; CSV 1:5 to 1:30
  rows: 500_000,
  pending: 20,
  uploadSeconds: 600,
} as const;

const count = (description: string) => Optional(Integer({ minimum: 0, description }));

/** What an import has come to so far: counts of rows, but for users and subscriptions. */
export const ImportStats = Type.Object({
  processed: count("rows that were read"),
  created_users: count("users that were made"),
  updated_users: count("users who were there before; each is counted once, here or in `created_users`"),
  created_subscriptions: count("subscriptions that were made"),
  skipped: count("good rows, or parts of them, that make nothing; the report says why"),
  errors: count("faulty rows: nothing of them is taken; the report says why"),
  warnings: count("rows that were taken without a value that cannot be read; the report says which"),
  anonymous: count("rows of `thirdparty_players` without an external_user_id"),
});
export type ImportStats = Static<typeof ImportStats>;

/** How far an import has come. How many rows a file has is not known before its end. */
const ImportProgress = Type.Object({
  read_bytes: Integer({ minimum: 0, description: "of the file as it was uploaded" }),
  size_bytes: Integer({ minimum: 0, description: "of the whole file" }),
});

/** An import of users and subscriptions from a CSV file. */
export const Import = Type.Object({
  id: Text(),
  app_id: Text(),
  type: Enum([...importTypes]),
  file_name: Nullable(Text({ description: "as the upload named it" })),
  status: Enum([...importStatuses]),
  stats: ImportStats,
  progress: ImportProgress,
  error: Nullable(Text({ description: "why it failed: a code, a colon, and words; rows that were taken stay taken" })),
  error_report_url: Nullable(
    Text({
      description: "signed address of a CSV file with the columns line, error and row; made anew with each reply",
    }),
  ),
  requested_by: Nullable(Text({ description: "the API key" })),
  created_at: DateTime,
  completed_at: Nullable(DateTime),
});
export type Import = Static<typeof Import>;

export const ImportList = PageOf(Import);
export type ImportList = Static<typeof ImportList>;

export const importPaging = pagingOf({ standard: 50, most: 100, sort: "-created_at" });

export const ImportQuery = Type.Object(importPaging.pageQuery);
export type ImportQuery = Static<typeof ImportQuery>;

/** The form of `POST …/imports`, multipart/form-data. */
export const CreateImport = Closed({
  type: Enum([...importTypes]),
  file: Text({
    contentMediaType: "text/csv",
    description: `CSV in UTF-8, also as gzip; at most ${importLimits.fileBytes} bytes and ${importLimits.rows} rows`,
  }),
});
export type CreateImport = Static<typeof CreateImport>;

named({ Import, ImportStats, ImportList, CreateImport });
