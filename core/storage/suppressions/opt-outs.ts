import { contactKey } from "../../channels/addresses.ts";
import type { Clock } from "../../domain/clock.ts";
import { newId } from "../../domain/ids.ts";
import { type Channel, isContact } from "../../schema/vocabulary/channels.ts";
import type { OfApp } from "../mongo/collection.ts";
import type { SubjectOf } from "./keys.ts";
import { type SuppressionRow, type Suppressions, suppressionRow } from "./suppressions.ts";

export type OptOutsDeps = {
  suppressions: Pick<Suppressions, "put" | "takeBack">;
  subjectsOf: (app: OfApp) => Promise<SubjectOf>;
  clock: Clock;
};

/** Whose address it is, and where. */
export type OptedOut = { channel: Channel; token: string; user_id: string };

export type OptOuts = ReturnType<typeof optOuts>;

/**
 * Keeps opt-outs that were said by the status of a subscription in the suppression list: there they outlive the
 * subscription. Devices are not suppressed by their token. Each may be done twice.
 * Source: docs/reference/suppressions.md#effects.
 */
export const optOuts = ({ suppressions, subjectsOf, clock }: OptOutsDeps) => ({
  keep: async (of: OfApp, source: "api" | "import", all: readonly OptedOut[]): Promise<void> => {
    const contacts = all.flatMap(({ channel, ...one }) => (isContact(channel) ? [{ channel, ...one }] : []));
    if (contacts.length === 0) return;
    const [subjectOf, at] = [await subjectsOf(of), clock.now()];
    const said = { reason: "unsubscribe", source, note: null, categories: null, expires_at: null } as const;
    const rows = contacts.map(({ channel, token: address, user_id: userId }): SuppressionRow => {
      const key = contactKey(channel, address);
      const about = { channel, subject: subjectOf(key), key, address, externalId: null, userId };
      return suppressionRow(of, { id: newId("suppression", at), about, said: { ...said, beside_status: null }, at });
    });
    await suppressions.put(rows, at);
  },

  /** Leaves what else suppresses the address, such as what its owner said themselves. */
  takeBack: async (of: OfApp, { channel, token }: Pick<OptedOut, "channel" | "token">): Promise<void> => {
    if (!isContact(channel)) return;
    const subject = (await subjectsOf(of))(contactKey(channel, token));
    await suppressions.takeBack(of, { subject, channel }, clock.now());
  },
});
