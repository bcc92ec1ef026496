import type { Clock } from "#core/domain/clock.ts";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { conditionsOf } from "#core/domain/filters/tree.ts";
import { explainCondition } from "#core/domain/segments/explained.ts";
import { judge } from "#core/domain/segments/judge.ts";
import { type SegmentMembers, type Selection, segmentMembers, UnusableSegment } from "#core/domain/segments/members.ts";
import { AppError, NotFound } from "#core/errors.ts";
import type { SegmentExplanation } from "#core/schema/segments/segment.ts";
import type { SegmentPeople } from "#core/storage/segments/people.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import type { Segments } from "#core/storage/segments/segments.ts";

export type ExplainDeps = {
  segments: Pick<Segments, "definitions">;
  people: Pick<SegmentPeople, "called">;
  clock: Clock;
};

/** Whether somebody is in a segment, and what each condition found of them. @throws NotFound for somebody unknown */
export const explainSegment =
  ({ segments, people, clock }: ExplainDeps) =>
  async (segment: SegmentRow, externalId: string): Promise<SegmentExplanation> => {
    const { _id, app_id: appId, tenant_id: tenantId, filter } = segment;
    const now = clock.now();
    const members = segmentMembers(await segments.definitions(appId, [_id]), now);
    const { asks } = usableSegment(members, _id);
    const somebody = await people.called({ tenantId, appId }, externalId, asks);
    if (somebody === null) throw new NotFound("user");
    const conditions = filter === null ? [] : conditionsOf(parseFilter(filter));
    return {
      member: judge(members.ofSegment(_id), somebody).isMember,
      conditions: conditions.map((condition) => explainCondition(members, condition, somebody)),
      as_of: now.toISOString(),
    };
  };

/** @throws AppError HS_CONFLICT for a segment that names one that is gone, or itself */
const usableSegment = (members: SegmentMembers, id: string): Selection => {
  try {
    return members.ofSegment(id);
  } catch (error) {
    if (error instanceof UnusableSegment) throw new AppError("HS_CONFLICT", error.message, { status: "unusable" });
    throw error;
  }
};
