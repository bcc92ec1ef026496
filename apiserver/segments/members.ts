import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import type { SegmentMembers, UserRef } from "#core/schema/segments/segment.ts";
import { aliasKey } from "#core/storage/people/users.ts";
import type { SegmentCounts } from "#core/storage/segments/counts.ts";
import type { Lists } from "#core/storage/segments/lists.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";

export type MembersDeps = {
  lists: Pick<Lists, "find" | "add" | "remove">;
  counts: Pick<SegmentCounts, "askSoon">;
  clock: Clock;
};

const countAfterMs = 10_000; // more of the list is changed by then

/** What became of a change of a list: how many it changed, and whom the app does not know. */
export type MembersChanged = { changed: number; missing: UserRef[] };

/** Puts users on the list of a segment, or takes them from it. @throws AppError HS_CONFLICT for a segment that is no list */
export const changeMembers =
  ({ lists, counts, clock }: MembersDeps, verb: "add" | "remove") =>
  async (segment: SegmentRow, { users }: SegmentMembers): Promise<MembersChanged> => {
    const { _id, tenant_id: tenantId, app_id: appId, kind } = segment;
    if (kind !== "list")
      throw new AppError("HS_CONFLICT", "who is in this segment is decided by its filter", { status: "not_a_list" });
    const of = { tenantId, appId };
    const known = await lists.find(of, users);
    const idOf = ({ label, id }: UserRef): string | undefined => known.get(aliasKey(label, id));
    const ids = [...new Set(users.flatMap((user) => idOf(user) ?? []))];
    await counts.askSoon(segment, clock.now(), countAfterMs);
    return {
      changed: await lists[verb](of, _id, ids),
      missing: users.filter((user) => idOf(user) === undefined),
    };
  };
