import type { UpdateFilter } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { type DeviceSession, type SessionCounted, withSession } from "#core/domain/people/device-sessions.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { UserRow, Users } from "#core/storage/people/users.ts";
import { writeAsIs } from "../settings/write-as-is.ts";

export type CountSessionDeps = { users: Pick<Users, "find" | "update">; clock: Clock };

/** A session, and when the person was last there. */
export type Told = { session: DeviceSession; seenAt: Date };

/** Counts a session of a user, once however often it is told. It causes no event: sessions are many. */
export const countSession =
  ({ users, clock }: CountSessionDeps) =>
  (found: UserRow, { session, seenAt }: Told): Promise<SessionCounted> => {
    const countedIn = (user: UserRow) => withSession(user.sessions ?? [], session);
    return writeAsIs({
      what: "user",
      found,
      reread: (read) => users.find(ofRow(read), "user_id", read._id),
      attempt: async (read) => {
        let { counted } = countedIn(read);
        if (counted === "known") return counted;
        const written = await users.update(read.tenant_id, read, (user) => {
          const now = countedIn(user);
          counted = now.counted;
          return changeOf(user, now, { seenAt, now: clock.now() });
        });
        return written === null ? null : counted;
      },
    });
  };

const changeOf = (
  { session_count: count = 0, session_time: time, last_active_at: before }: UserRow,
  { counted, sessions, seconds }: ReturnType<typeof withSession>,
  { seenAt, now }: { seenAt: Date; now: Date },
): UpdateFilter<UserRow> => ({
  $set: {
    sessions,
    session_count: count + (counted === "new" ? 1 : 0),
    session_time: (time ?? 0) + seconds,
    last_active_at: before > seenAt ? before : seenAt,
    updated_at: now,
  },
  $inc: { revision: 1 },
});
