import type { Compression, ExportFilters, ExportStatus, MadeType } from "../../schema/exports/export.ts";
import type { JobRow } from "../work/jobs.ts";

/**
 * An export, and the job that makes its file. `due_at` is when it is to be begun; once it has ended, when its file is to
 * be removed.
 */
export type ExportRow = JobRow & {
  _id: string;
  type: MadeType;
  filters: ExportFilters;
  compression: Compression;
  status: ExportStatus;
  /** From 0: which of the places it has that its app has for exports which nobody has begun. None once it was begun. */
  place?: number;
  /** Rows that this attempt has written; null before the first. */
  row_count: number | null;
  /** When `row_count` was written. */
  counted_at: Date | null;
  /** How often it was begun; an attempt that was told to stop does not count. */
  attempts: number;
  error: string | null;
  /** Null until it is completed, and once it was removed. */
  file: { key: string; size_bytes: number } | null;
  expires_at: Date | null;
  /** What it was asked for about, so that a repeat finds it: `history/<message>`, `events/<message>/<hash of the body>`, `personal_data/<hash of the user>`. */
  subject?: string;
  /** Id of the user whose data it is of; null once it has ended. Left out of all other types. */
  person?: string | null;
  /** Who is mailed the address of the file; null once they were, or nobody is to be. */
  mail_to?: string | null;
  requested_by: string | null;
  created_at: Date;
  completed_at: Date | null;
};
