import type { SuppressionEntry } from "../../domain/suppressions/strength.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";

/** An address or a user that gets no messages, or none of some categories. */
export type SuppressionRow = SuppressionEntry & {
  _id: string;
  tenant_id: string;
  app_id: string;
  /** Null: every channel. */
  channel: Channel | null;
  /** What it is about, in a form that outlives the erasure of the person: a keyed hash. */
  subject: string;
  address: string | null;
  external_id: string | null;
  user_id: string | null;
  /** Keys of the person whose it is, by which they are erased: ids of ours, and `<label>:<id>` for those of the app. */
  people: string[];
  /** Grows with every change. */
  revision: number;
  created_at: Date;
  updated_at: Date;
};
