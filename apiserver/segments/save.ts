import type { Clock } from "#core/domain/clock.ts";
import { AppError, invalid } from "#core/errors.ts";
import type { CreateSegment, UpdateSegment } from "#core/schema/segments/segment.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type OfApp, ofRow } from "#core/storage/mongo/collection.ts";
import { type CheckedFilter, refuseCircle } from "#core/storage/segments/check-filter.ts";
import type { SegmentCounts } from "#core/storage/segments/counts.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { newSetting, type Settings } from "../settings/settings.ts";

export type SaveDeps = {
  settings: Pick<Settings<SegmentRow>, "create" | "change" | "announce">;
  check: (app: Pick<AppRow, "_id">, filter: unknown) => Promise<CheckedFilter>;
  findByName: (of: OfApp, name: string) => Promise<SegmentRow | null>;
  counts: Pick<SegmentCounts, "ask">;
  clock: Clock;
};

/** Refuses a new segment that has not what its kind needs. @throws ValidationError */
export const checkKind = ({ kind = "filter", filter = null }: CreateSegment): void => {
  if (kind === "filter" && filter === null) throw invalid("filter", "is required for a segment of kind filter");
  if (kind === "list" && filter !== null) throw invalid("filter", "must be left out: who is on a list is put there");
};

export const createSegment =
  ({ settings, check, counts, clock }: SaveDeps) =>
  async (by: By, app: AppRow, id: string, body: CreateSegment): Promise<SegmentRow> => {
    const { name, description = null, kind = "filter" } = body;
    const { filter, names } = kind === "list" ? listed : await check(app, body.filter);
    const uncounted = { count: null, by_channel: null, counted_at: null };
    const row = newSetting(app, id, clock.now());
    await counts.ask([row], row.created_at);
    const made = await settings.create(by, { ...row, name, description, kind, filter, names, ...uncounted });
    announceNamed(settings, made, names);
    return made;
  };

const listed = { filter: null, names: [] };

export const updateSegment =
  ({ settings, check, findByName, counts, clock }: SaveDeps) =>
  async (by: By, found: SegmentRow, { filter: given, ...members }: UpdateSegment): Promise<SegmentRow> => {
    if (given !== undefined && found.kind === "list") throw invalid("filter", "is not a member of a list");
    const { app_id: appId, _id } = found;
    if (members.name !== undefined) {
      const other = await findByName(ofRow(found), members.name);
      if (other !== null && other._id !== _id) throw taken(other._id);
    }
    if (given === undefined) return settings.change(by, "updated", found, () => ({ set: members }));
    const checked = await check({ _id: appId }, given);
    refuseCircle(_id, checked);
    const { filter, names } = checked;
    requireUnmanaged("segment", found, ["filter", ...Object.keys(members)]);
    await counts.ask([found], clock.now());
    const changed = await settings.change(by, "updated", found, () => ({ set: { ...members, filter, names } }));
    announceNamed(settings, found, [...found.names, ...names]);
    return changed;
  };

/** What names these segments is another now: whoever shows that hears of it. */
export const announceNamed = (
  { announce }: Pick<Settings<SegmentRow>, "announce">,
  row: SegmentRow,
  named: readonly string[],
): void => {
  for (const _id of new Set(named)) announce({ ...row, _id });
};

/** Another segment of the app has the name. */
export const taken = (id: string | null): AppError =>
  new AppError("HS_ALREADY_EXISTS", "the app has a segment of this name", { field: "name", id });
