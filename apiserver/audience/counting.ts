import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import { contacts } from "#core/storage/people/contacts.ts";
import { type Audience, subscriptionCounts } from "#core/storage/people/subscription-counts.ts";
import { aimedSubscriptions } from "#core/storage/segments/aimed.ts";
import { filterFacts } from "#core/storage/segments/facts.ts";
import { cached } from "#core/storage/settings/cached.ts";
import { type FindSuppressed, findSuppressed } from "#core/storage/suppressions/find-suppressed.ts";
import { suppressionKeys } from "#core/storage/suppressions/keys.ts";
import { suppressions } from "#core/storage/suppressions/suppressions.ts";
import { recentCounts } from "../limits/recent-counts.ts";
import { audienceSize } from "./audience-size.ts";
import type { EstimateDeps } from "./estimate.ts";
import { suppressedSize } from "./suppressed-size.ts";

type CountingDeps = { db: Db; secrets: Pick<KeyRing, "seal" | "open">; clock: Clock; log: Log };

/** What an estimate counts with: how many there are, and whom the suppression list holds a message back from. */
export const counting = ({
  db,
  secrets,
  clock,
  log,
}: CountingDeps): Pick<EstimateDeps, "countAll" | "aimed" | "contacts" | "clock"> & {
  findSuppressed: FindSuppressed;
} => {
  const [list, counts] = [suppressions(db), subscriptionCounts(db)];
  const sizeOf = audienceSize({ counts, clock, log });
  const suppressedIn = suppressedSize({
    entries: (of, channel, after) => list.listed(of, channel, after, clock.now()),
    subscriptions: ({ appId, testOnly }, stretch, by) => counts.named({ appId, testOnly, ...stretch }, by),
    clock,
  });
  const countAll = async (of: Audience): Promise<number> => {
    const [all, suppressed] = await Promise.all([sizeOf(of), suppressedIn(of)]);
    return Math.max(0, all - suppressed);
  };
  const known = cached({ load: (place) => list.isAny(...placeOf(place)), ...shortly, clock });
  const isAny = (appId: string, channel: Channel): Promise<boolean> => known.get(`${appId} ${channel}`);
  return {
    aimed: aimedSubscriptions(db, filterFacts({ db, secrets, clock })),
    contacts: contacts(db),
    clock,
    countAll: recentCounts(countAll, clock),
    findSuppressed: findSuppressed({
      suppressions: { ...list, isAny },
      subjectsOf: suppressionKeys(db, secrets, clock),
      clock,
    }),
  };
};

const shortly = { ttlMs: 1_000, max: 10_000 };

const placeOf = (text: string): [appId: string, channel: Channel] => {
  const [appId = "", channel = ""] = text.split(" ");
  return [appId, channel as Channel]; // sound: joined just above
};
