import type { Clock } from "#core/domain/clock.ts";
import { invalid } from "#core/errors.ts";
import type { ReportSession, SessionReported } from "#core/schema/devices/reports.ts";
import type { Devices } from "#core/storage/people/devices.ts";
import type { SessionMonths } from "#core/storage/people/session-months.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Users } from "#core/storage/people/users.ts";
import type { People } from "../people/use-cases.ts";
import { ownerOf } from "./person.ts";
import { isTooOld } from "./receipts.ts";

export type SessionDeps = Pick<People, "countSession"> & {
  users: Pick<Users, "find">;
  seen: Devices["seen"];
  /** Keeps when sessions began. */
  months: Pick<SessionMonths, "add">;
  /** Counts a session of a subscription. @throws RateLimited */
  limit: (rate: "sdk.sessions", id: string) => Promise<void>;
  clock: Clock;
};

const minuteMs = 60_000; // what is kept of when somebody was there

/** Counts a session of the device's person, each once. @throws ValidationError, RateLimited */
export const reportSession =
  ({ countSession, users, seen, months, limit, clock }: SessionDeps) =>
  async (own: SubscriptionRow, { started_at, duration_s: s = 0 }: ReportSession): Promise<SessionReported> => {
    const now = clock.now();
    const at = new Date(started_at); // as the device says, also where its clock is ahead: it names the session
    if (isTooOld(at, now)) throw invalid("started_at", "is more than 30 days ago");
    await limit("sdk.sessions", own._id);
    const endedMs = Math.min(at.getTime() + s * 1_000, now.getTime());
    const seenAt = new Date(Math.floor(endedMs / minuteMs) * minuteMs);
    await seen(own, seenAt);
    const session = { of: own._id, at, s };
    const owner = await ownerOf({ users }, own);
    await months.add(owner, at < now ? at : now, now);
    return { counted: await countSession(owner, { session, seenAt }) };
  };
