import type { Channel } from "../../schema/vocabulary/channels.ts";

/** Whom a row is about, as far as it says. */
export type ImportedPerson = {
  externalId: string | null;
  /** Null removes a tag. */
  tags: Record<string, string | null>;
  properties: Record<string, unknown>;
  language?: string | undefined;
  /** IANA name. */
  timeZone?: string | undefined;
  sessions?: number | undefined;
  firstSeenAt?: Date | undefined;
  lastActiveAt?: Date | undefined;
};

/** An address as the row gives it: not checked. */
export type ImportedAddress = {
  channel: Channel;
  token: string;
  /** Null: one that is there stays as it is, and a new one is subscribed. */
  status: "subscribed" | "unsubscribed" | "invalid" | null;
  device: Record<string, string>;
};

/**
 * What a row means. `person` null: nothing is made of it. `skipped`: why it, or its address, makes nothing. `notes`: what of
 * it could not be read.
 */
export type ImportedRow =
  | {
      kind: "row";
      person: ImportedPerson | null;
      address: ImportedAddress | null;
      skipped: string | null;
      notes: string[];
    }
  | { kind: "faulty"; error: string };

export const faulty = (error: string): ImportedRow => ({ kind: "faulty", error });
