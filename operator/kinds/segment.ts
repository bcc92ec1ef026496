import { isDeepStrictEqual } from "node:util";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { namingConditions } from "#core/domain/segments/names.ts";
import { AppError } from "#core/errors.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { type SegmentSpec, segmentResource } from "#core/schema/segments/resource.ts";
import { segmentLimits } from "#core/schema/segments/segment.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { checkFilter, refuseCircle } from "#core/storage/segments/check-filter.ts";
import { segmentCounts } from "#core/storage/segments/counts.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import { appSegments, type Segments, segmentCollection } from "#core/storage/segments/segments.ts";
import { removals, segmentRemoval } from "#core/storage/work/removals.ts";
import { type Handler, refusal } from "../engine/handler.ts";
import { beside, isRefused, link } from "../engine/links.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { namedOf } from "../policies/named-members.ts";
import { statusOf } from "../policies/segments/status.ts";
import { defineKind, type Tools } from "../records/kind.ts";
import { appLink, inApp, ofApp, withApp } from "../records/owner-refs.ts";
import type { Platform } from "../records/platform.ts";
import type { MayWrite } from "../records/record-deps.ts";
import { planLimit, type WithinPlan, withinPlan } from "../records/within-plan.ts";
import type { DesiredRow } from "../records/writes.ts";

type SegmentResource = Resource<SegmentSpec, { id?: string; usedBy?: { id: string }[] }>;
type Deps = Tools<SegmentResource, SegmentRow> & { segments: Segments; withinPlan: WithinPlan<AppRow> };

/** Segment: a document of its app. Who is on a list stays the REST interface's. */
export const segment = defineKind<SegmentResource, SegmentRow>({
  definition: segmentResource,
  what: "segment",
  collection: segmentCollection,
  called: ({ db }, { app_id = "", name = "" }) => appSegments(db).named(app_id, name),
  indexes: {
    name: (one) => [nameOf(one)],
    app: (one) => [beside(one, one.spec.appRef)],
    called: (one) => calledOf(one),
    naming: (one) => namedIn(one),
    waiting: (one) => (isRefused(one) && namedIn(one).length > 0 ? [beside(one, one.spec.appRef)] : []),
  },
  links: [
    appLink,
    link(segmentResource, "naming", (one) => calledOf(one)),
    link(segmentResource, "called", (one) => namedIn(one)),
    link(segmentResource, "record", (one) => userIdsOf(one)),
  ],
  isRecordReported: true,
  handler: (tools) =>
    handler({ ...tools, segments: appSegments(tools.db), withinPlan: withinPlan(limit(tools), tools.timing) }),
});

const limit = ({ db, owners }: Platform) =>
  planLimit({
    owners,
    feature: null,
    things: "segments",
    most: () => segmentLimits.segments,
    countOthers: appSegments(db).countOthers,
  });

const handler = (deps: Deps): Handler<SegmentResource> => {
  const { record, segments, clock } = deps;
  const statusFor = async (id: string, row: Partial<SegmentRow> & { app_id: string }) =>
    statusOf(row, (await segments.usersOf(row.app_id, [id])).get(id) ?? []);
  return {
    reconcile: (resource, signal) =>
      withApp(deps, resource, async (app) => {
        const id = record.idOf(resource);
        const stand = await record.look(resource, inApp(resource, app));
        if (stand.kind === "refused") return record.report(resource, stand, neverAsked, signal);
        const asked = await membersOf(deps, { resource, id, app, row: stand.row });
        const about = async (row: SegmentRow) => ({
          status: await statusFor(id, row),
          members: "set" in asked ? asked.set : {},
        });
        if (stand.kind === "left") return record.report(resource, stand, about, signal);
        if ("finding" in asked) return refusal(asked.finding, retryMs);
        const finding = otherKind(stand.row, resource.spec);
        if (finding !== null) return refusal(finding);
        const { set } = asked;
        const begin = { description: null, ...uncounted, created_at: clock.now() };
        const wanted = { set, begin, names: [nameOf(resource)], members: ownOf(resource.spec) };
        const at = { owner: app, id, row: stand.row };
        const result = await deps.withinPlan(at, () => keepCounted(deps, { resource, id, stand, wanted }));
        if ("verdict" in result) return result.verdict;
        return record.kept(resource, result, await statusFor(id, { ...stand.row, ...set, app_id: app._id }));
      }),
    remove: async (resource, signal) =>
      record.drop(resource, { before: (id) => beginRemoval(deps, id) }, signal, await ofApp(deps, resource)),
  };
};

type Keeping = {
  resource: SegmentResource;
  id: string;
  stand: MayWrite<SegmentRow>;
  wanted: DesiredRow<SegmentRow> & { set: Members };
};

/** Has a segment counted whose filter is new. */
const keepCounted = async ({ db, record, fence, clock }: Deps, { resource, id, stand, wanted }: Keeping) => {
  const { tenant_id, app_id, filter } = wanted.set;
  fence.check();
  if (stand.row === null || !isDeepStrictEqual(stand.row.filter, filter))
    await segmentCounts(db).ask([{ _id: id, tenant_id, app_id }], clock.now());
  return record.keep(resource, stand, wanted);
};

/** A refused stand describes no record. */
const neverAsked = () => ({ status: {}, members: {} });

const uncounted = { count: null, by_channel: null, counted_at: null };

const retryMs = 30_000; // the REST interface may make a segment that a filter names, and what that announces may get lost

/** Whoever is on its list is taken from it afterwards; nobody counts it any more. */
const beginRemoval = async ({ rows, db, fence, clock }: Deps, id: string): Promise<null> => {
  const row = await rows.find(id);
  fence.check();
  if (row !== null) await removals(db).begin(segmentRemoval(row, clock.now()));
  await segmentCounts(db).cancel(id, clock.now());
  return null;
};

type Members = Pick<SegmentRow, "tenant_id" | "app_id" | "name" | "kind" | "filter" | "names"> &
  Partial<Pick<SegmentRow, "description">>;
type Asked = { resource: SegmentResource; id: string; app: AppRow; row: SegmentRow | null };

/** The members that are the resource's: the REST interface owns the rest. */
const ownOf = ({ description }: SegmentSpec): string[] => [
  "name",
  "kind",
  "filter",
  ...(description === undefined ? [] : ["description"]),
];

/** The record that a resource asks for, with the ids of the segments that its filter names; or what is wrong with that. */
const membersOf = async (
  { segments }: Deps,
  { resource: { spec }, id, app, row }: Asked,
): Promise<{ set: Members } | { finding: Finding }> => {
  const { name, description, kind } = spec;
  const own = { tenant_id: app.tenant_id, app_id: app._id, name, kind, ...namedOf(row, { description }) };
  if (spec.filter === undefined) return { set: { ...own, filter: null, names: [] } };
  try {
    const checked = await checkFilter({ segments })(app, spec.filter, "spec.filter");
    refuseCircle(id, checked);
    return { set: { ...own, filter: checked.filter, names: checked.names } };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "HS_VALIDATION_ERROR") throw error;
    return { finding: refused("FilterInvalid", error.message) };
  }
};

/** A segment that is taken over stays of its kind. */
const otherKind = (row: SegmentRow | null, { kind }: SegmentSpec): Finding | null =>
  row === null || row.kind === kind
    ? null
    : refused("KindDiffers", `spec.kind: the segment is a ${row.kind}, and stays one: spec.kind has to be ${row.kind}`);

/** The segment's name, which is unique in its app. */
const nameOf = (segment: SegmentResource): string => inItsApp(segment, segment.spec.name);

/** By what filters name the segment: its name, or its id. */
const calledOf = (segment: SegmentResource): string[] => [
  nameOf(segment),
  ...(segment.status?.id === undefined ? [] : [inItsApp(segment, segment.status.id)]),
];

/** Who uses the segment, as its status says: they look at it again once it is called otherwise in its record. */
const userIdsOf = ({ status }: SegmentResource): string[] => (status?.usedBy ?? []).map(({ id }) => id);

/** What the filter names: what a faulty one names is found when it is mended. */
const namedIn = (segment: SegmentResource): string[] => {
  try {
    return namingConditions(parseFilter(segment.spec.filter)).map(({ value }) => inItsApp(segment, String(value)));
  } catch {
    return [];
  }
};

const inItsApp = (segment: SegmentResource, name: string): string => `${beside(segment, segment.spec.appRef)}/${name}`;
