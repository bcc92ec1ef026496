import { contactKey } from "#core/channels/addresses.ts";
import type { Clock } from "#core/domain/clock.ts";
import { derivedIdAt } from "#core/domain/ids.ts";
import { statusBy } from "#core/domain/suppressions/effects.ts";
import type { Suppressed } from "#core/domain/suppressions/strength.ts";
import { AppError } from "#core/errors.ts";
import type { ContactChannel } from "#core/schema/vocabulary/channels.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { Contact, End } from "#core/storage/people/ended.ts";
import type { SubjectOf } from "#core/storage/suppressions/keys.ts";
import { type SuppressionRow, suppressionRow } from "#core/storage/suppressions/suppressions.ts";

/** That an address gets no more messages, and since when. */
export type Cause = { of: OfApp; channel: ContactChannel; address: string; at: Date; said: Suppressed };

export type SuppressDeps = {
  suppressions: {
    put: (rows: readonly SuppressionRow[], now: Date) => Promise<unknown>;
    told: (
      of: OfApp,
      entry: Pick<SuppressionRow, "subject" | "channel">,
      before: Date,
    ) => Promise<SuppressionRow | null>;
    /** False when it is no longer as it was read. */
    remove: (entry: SuppressionRow, now: Date) => Promise<boolean>;
  };
  subjectsOf: (app: OfApp) => Promise<SubjectOf>;
  subscriptions: {
    at: (of: OfApp, channel: ContactChannel, addresses: readonly string[]) => Promise<Contact[]>;
    end: (ends: readonly End[], now: Date) => Promise<void>;
    resume: (of: OfApp, at: { channel: ContactChannel; address: string; reason: string }, now: Date) => Promise<void>;
  };
  clock: Clock;
};

export type Suppressor = ReturnType<typeof suppressor>;

/** Adds to the suppression list and lifts from it, with what follows for subscriptions. Each may be done twice. */
export const suppressor = (deps: SuppressDeps) => ({
  /** Suppresses addresses; their subscriptions end as the reason says. */
  suppress: async (causes: readonly Cause[]): Promise<void> => {
    const groups = Map.groupBy(causes, ({ of, channel }) => `${of.appId} ${channel}`);
    for (const group of groups.values()) await suppressGroup(deps, group);
  },

  /**
   * Lifts what a person themselves had asked for, unless they asked for it again since. The subscription comes first: by
   * the entry a repeat knows what a kill has left.
   */
  lift: async ({ of, channel, address, at }: Omit<Cause, "said">): Promise<void> => {
    const subject = (await deps.subjectsOf(of))(contactKey(channel, address));
    for (let attempt = 0; attempt < attempts; attempt++) {
      const entry = await deps.suppressions.told(of, { subject, channel }, at);
      const reason = entry?.reason ?? "carrier_opt_out";
      await deps.subscriptions.resume(of, { channel, address, reason }, deps.clock.now());
      if (entry === null || (await deps.suppressions.remove(entry, deps.clock.now()))) return;
    }
    throw new AppError("HS_CONFLICT", "the same entry is being changed by others", { status: "busy" });
  },
});

const attempts = 5; // each lost to another writer of the same entry

/** Causes of one app and channel. */
const suppressGroup = async (deps: SuppressDeps, group: readonly Cause[]): Promise<void> => {
  const [first] = group;
  if (first === undefined) return;
  const { of, channel } = first;
  const now = deps.clock.now();
  const [subjectOf, contacts] = await Promise.all([
    deps.subjectsOf(of),
    deps.subscriptions.at(of, channel, [...new Set(group.map(({ address }) => address))]),
  ]);
  const known = new Map(contacts.map((one) => [one.token, one]));
  const rows = group.map((cause) =>
    rowOf(cause, { subjectOf, userId: known.get(cause.address)?.user_id ?? null, now }),
  );
  await deps.suppressions.put(rows, now);
  const ends = group.flatMap((cause) => endOf(cause, known.get(cause.address)));
  if (ends.length > 0) await deps.subscriptions.end(ends, now);
};

const rowOf = (
  { of, channel, address, at, said }: Cause,
  { subjectOf, userId, now }: { subjectOf: SubjectOf; userId: string | null; now: Date },
): SuppressionRow => {
  const key = contactKey(channel, address);
  const subject = subjectOf(key);
  const since = at < now ? at : now; // no provider's clock is believed to be ahead
  const id = derivedIdAt("suppression", since, of.appId, channel, subject);
  return suppressionRow(of, {
    id,
    about: { channel, subject, key, address, externalId: null, userId },
    said,
    at: since,
  });
};

/** An entry for some categories ends nothing. */
const endOf = ({ at, said }: Cause, contact: Contact | undefined): End[] => {
  const status = said.categories === null ? statusBy(said.reason) : null;
  if (contact === undefined || status === null) return [];
  return [{ _id: contact._id, token: contact.token, since: at, status, reason: said.reason }];
};
