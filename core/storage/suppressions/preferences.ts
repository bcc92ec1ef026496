import { contactKey } from "../../channels/addresses.ts";
import type { Clock } from "../../domain/clock.ts";
import { newId } from "../../domain/ids.ts";
import { wishedCategories } from "../../domain/suppressions/preferences.ts";
import type { SuppressionSource } from "../../schema/suppressions/suppression.ts";
import type { ContactChannel } from "../../schema/vocabulary/channels.ts";
import type { OfApp } from "../mongo/collection.ts";
import type { SubjectOf } from "./keys.ts";
import { type Subject, type SuppressionRow, type Suppressions, suppressionRow } from "./suppressions.ts";
import type { SuppressionWishes } from "./wish.ts";

export type PreferencesDeps = {
  suppressions: Pick<Suppressions, "put">;
  wishes: SuppressionWishes;
  subjectsOf: (app: OfApp) => Promise<SubjectOf>;
  clock: Clock;
};

/** What is held back from somebody on a channel. `isAll`: everything, whatever their wishes. */
export type HeldBack = { isAll: boolean; categories: readonly string[] };

export type Preferences = ReturnType<typeof preferences>;

/**
 * The categories of messages that people want on a channel. What they do not want is an opt-out in the suppression list, so
 * that gates, estimates, explanations and erasure know it. Source: docs/reference/suppressions.md#preferences.
 */
export const preferences = ({ suppressions, wishes: own, subjectsOf, clock }: PreferencesDeps) => {
  const lift = (of: OfApp, about: Pick<Subject, "subject" | "channel">, wishes: Wishes): Promise<void> =>
    own.wish(of, about, (row) => wishedCategories(row, wishes), clock.now());
  return {
    /** Takes categories that are wanted out of the opt-out about somebody. May be done twice. */
    lift,

    /** Whom an entry about an address is about. */
    ofContact: async (of: OfApp, { channel, token: address, user_id: userId }: Contact): Promise<Subject> => {
      const key = contactKey(channel, address);
      return { channel, subject: (await subjectsOf(of))(key), key, address, externalId: null, userId };
    },

    heldBack: async (of: OfApp, about: Pick<Subject, "subject" | "channel">): Promise<HeldBack> => {
      const row = await own.entry(of, about, clock.now());
      return { isAll: row?.categories === null, categories: row?.categories ?? [] };
    },

    /**
     * Keeps which of some categories somebody wants; the others stay as they are. May be done twice. What holds all messages
     * back stays, and so does what somebody else said of a category.
     * @throws AppError HS_CONFLICT when others change the same entry all the time
     */
    set: async (of: OfApp, about: Subject, wishes: Wishes, source: SuppressionSource): Promise<void> => {
      const at = clock.now();
      await lift(of, about, wishes);
      const unwanted = [...wishes].flatMap(([category, isWanted]) => (isWanted ? [] : [category]));
      if (unwanted.length === 0) return;
      const said = { reason: "unsubscribe", source, note: null, categories: unwanted, expires_at: null } as const;
      const row: SuppressionRow = suppressionRow(of, { id: newId("suppression", at), about, said, at });
      await suppressions.put([row], at);
    },
  };
};

/** Whether each category is wanted. */
export type Wishes = ReadonlyMap<string, boolean>;

type Contact = { channel: ContactChannel; token: string; user_id: string };
