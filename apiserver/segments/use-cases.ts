import type { Db } from "mongodb";
import { AppError } from "#core/errors.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import {
  type CreateSegment,
  type PreviewSegment,
  type Segment,
  type SegmentListQuery,
  type SegmentPreview,
  segmentLimits,
  segmentPaging,
} from "#core/schema/segments/segment.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type OfApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { SortPosition } from "#core/storage/mongo/page-range.ts";
import { checkFilter } from "#core/storage/segments/check-filter.ts";
import { segmentCounts } from "#core/storage/segments/counts.ts";
import { filterFacts } from "#core/storage/segments/facts.ts";
import { segmentLists } from "#core/storage/segments/lists.ts";
import { segmentPeople } from "#core/storage/segments/people.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import { appSegments, type Segments } from "#core/storage/segments/segments.ts";
import { removals, segmentRemoval } from "#core/storage/work/removals.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { type SettingsPlatform, settings as settingsOf } from "../settings/settings.ts";
import { explainSegment } from "./explain.ts";
import { changeMembers } from "./members.ts";
import { previewSegment } from "./preview.ts";
import { announceNamed, checkKind, createSegment, taken, updateSegment } from "./save.ts";
import { type ShownSegment, segmentView } from "./views.ts";

export type SegmentPlatform = SettingsPlatform & {
  db: Db;
  secrets: Pick<KeyRing, "seal" | "open">;
  cursors: Cursors;
  limit: NarrowLimit;
  log: Log;
};

/** What the operations on segments use. */
export const segmentUseCases = (platform: SegmentPlatform) => {
  const { db, secrets, clock, limit, log, cursors } = platform;
  const factsOf = filterFacts({ db, secrets, clock });
  const [segments, people, lists] = [appSegments(db), segmentPeople(db, factsOf), segmentLists(db)];
  const settings = settingsOf(platform, {
    what: "segment",
    store: segments,
    view: segmentView,
    plan: { metric: "segments", most: segmentLimits.segments },
    taken: async (row: SegmentRow) => taken((await segments.findByName(ofRow(row), row.name))?._id ?? null),
  });
  const check = checkFilter({ segments });
  const counts = segmentCounts(db);
  const deps = { settings, check, findByName: segments.findByName, counts, clock };
  const preview = previewSegment({ people, clock, log });
  return {
    ...settings,
    page: listSegments(segments, cursors),

    find: async (of: OfApp, id: string): Promise<ShownSegment | null> => {
      const row = await segments.find(of, id);
      return row === null ? null : ((await withUsers(segments, of.appId, [row]))[0] ?? null);
    },

    check: (body: CreateSegment): void => checkKind(body),
    create: createSegment(deps),
    update: updateSegment(deps),

    /** While something names it only when that is asked for; its list goes afterwards. @throws AppError HS_CONFLICT, HS_MANAGED */
    removeSegment: async (by: By, found: ShownSegment, isForced: boolean): Promise<void> => {
      requireUnmanaged("segment", found);
      const { used_by = [] } = found;
      if (used_by.length > 0 && !isForced)
        throw new AppError("HS_CONFLICT", "the segment is used", { status: "in_use", used_by });
      await removals(db).begin(segmentRemoval(found, clock.now()));
      await settings.remove(by, found);
      announceNamed(settings, found, found.names);
      await counts.cancel(found._id, clock.now());
    },

    preview: async (app: AppRow, { filter }: PreviewSegment): Promise<SegmentPreview> => {
      await limit("segments.preview", app._id);
      return preview(app, await check(app, filter));
    },

    explain: explainSegment({ segments, people, clock }),
    addMembers: changeMembers({ lists, counts, clock }, "add"),
    removeMembers: changeMembers({ lists, counts, clock }, "remove"),
  };
};

export type SegmentUse = ReturnType<typeof segmentUseCases>;

const listSegments =
  (segments: Segments, cursors: Cursors) =>
  (app: AppRow, query: SegmentListQuery): Promise<Page<Segment>> => {
    const of = { tenantId: app.tenant_id, appId: app._id };
    return readPage<ShownSegment, Segment, string | SortPosition>({
      cursors,
      paging: segmentPaging,
      list: `segments/${app._id}`,
      query,
      read: async (page) => withUsers(segments, app._id, await segments.page(of, page)),
      positionOf: ({ name, _id }, sort) => (sort === "name" ? { value: name, id: _id } : _id),
      view: segmentView,
    });
  };

const withUsers = async (
  segments: Pick<Segments, "usersOf">,
  appId: string,
  rows: readonly SegmentRow[],
): Promise<ShownSegment[]> => {
  if (rows.length === 0) return [];
  const users = await segments.usersOf(
    appId,
    rows.map(({ _id }) => _id),
  );
  return rows.map((row) => ({ ...row, used_by: users.get(row._id) ?? [] }));
};
