import { inAppFaults } from "../../domain/in-app-messages/check.ts";
import { instantOf } from "../../domain/iso-instant.ts";
import { segmentMembers } from "../../domain/segments/members.ts";
import { type FieldError, invalid, refuse } from "../../errors.ts";
import type { InAppTarget } from "../../schema/in-app-messages/content.ts";
import type { CreateInAppMessage, UpdateInAppMessage } from "../../schema/in-app-messages/in-app-message.ts";
import { usable } from "../segments/check-filter.ts";
import { type Segments, TooManySegments } from "../segments/segments.ts";
import type { InAppMessageRow } from "./in-app-messages.ts";

/** What of an in-app message its writers say. */
export type InAppMembers = Pick<
  InAppMessageRow,
  | "name"
  | "status"
  | "target"
  | "segment_ids"
  | "triggers"
  | "redisplay"
  | "priority"
  | "start_at"
  | "end_at"
  | "variants"
>;

/** What is stored of the members that a request names. */
export const inAppMembers = (body: UpdateInAppMessage): Partial<Omit<InAppMembers, "target" | "segment_ids">> => {
  const { target: _, start_at: start, end_at: end, ...rest } = body;
  return {
    ...rest,
    ...(start !== undefined && { start_at: start === null ? null : instantOf(start) }),
    ...(end !== undefined && { end_at: end === null ? null : instantOf(end) }),
  };
};

const begin = { status: "draft", triggers: [], redisplay: null, priority: 0, start_at: null, end_at: null } as const;

/** What is stored of a new one beside its segments. */
export const newInAppMembers = (body: CreateInAppMessage): Omit<InAppMembers, "target" | "segment_ids"> => {
  const { name, variants } = body;
  return { ...begin, triggers: [], ...inAppMembers(body), name, variants };
};

/** Refuses what a schema cannot. @throws ValidationError */
export const checkInApp = (members: Parameters<typeof inAppFaults>[0]): void => refuse(inAppFaults(members));

/** Finds the segments that a target names, by their ids, else by their names. @throws ValidationError */
export const inAppTargetOf =
  ({ segments }: { segments: Pick<Segments, "called" | "definitions"> }) =>
  async (appId: string, target: InAppTarget): Promise<Pick<InAppMembers, "target" | "segment_ids">> => {
    const { included_segments: included = [], excluded_segments: excluded = [] } = target;
    const named = [...included, ...excluded];
    const rows = named.length === 0 ? [] : await segments.called(appId, named);
    const ids = new Map([
      ...rows.map(({ name, _id }): [string, string] => [name, _id]),
      ...rows.map(({ _id }): [string, string] => [_id, _id]), // behind the names: an id goes before them
    ]);
    refuse([...unknown("included_segments", included, ids), ...unknown("excluded_segments", excluded, ids)]);
    const idsOf = (some: readonly string[]) => [...new Set(some.flatMap((one) => ids.get(one) ?? []))];
    const found = { included_segments: idsOf(included), excluded_segments: idsOf(excluded) };
    const segmentIds = idsOf(named);
    await requireUsable(segments, appId, segmentIds);
    return { target: found, segment_ids: segmentIds };
  };

const unknown = (member: string, named: readonly string[], ids: ReadonlyMap<string, string>): FieldError[] =>
  named.flatMap((one, i) =>
    ids.has(one)
      ? []
      : [{ field: `target.${member}[${i}]`, message: "is no segment of the app, by its id or its name" }],
  );

const requireUsable = async (
  segments: Pick<Segments, "definitions">,
  appId: string,
  ids: readonly string[],
): Promise<void> => {
  if (ids.length === 0) return;
  try {
    const opened = segmentMembers(await segments.definitions(appId, ids), new Date(0)); // opened to see that they can be
    usable("target", () => ids.map((id) => opened.ofSegment(id)));
  } catch (error) {
    if (error instanceof TooManySegments) throw invalid("target", error.message);
    throw error;
  }
};
