import { segmentMembers } from "#core/domain/segments/members.ts";
import { invalid } from "#core/errors.ts";
import type { ExportFilters } from "#core/schema/exports/export.ts";
import { usable } from "#core/storage/segments/check-filter.ts";
import { type Segments, TooManySegments } from "#core/storage/segments/segments.ts";

const field = "filters.segment_id";

/** Filters with the id of the segment that they name, by its id, else by its name. @throws ValidationError for one that cannot be opened */
export const segmentNamed =
  (segments: Pick<Segments, "called" | "definitions">) =>
  async (appId: string, filters: ExportFilters): Promise<ExportFilters> => {
    const { segment_id: named } = filters;
    if (named === undefined) return filters;
    const found = await segments.called(appId, [named]);
    const id = (found.find(({ _id }) => _id === named) ?? found[0])?._id;
    if (id === undefined) throw invalid(field, "is no segment of the app, by its id or its name");
    const definitions = await segments.definitions(appId, [id]).catch((error: unknown) => {
      throw error instanceof TooManySegments ? invalid(field, error.message) : error;
    });
    usable(field, () => segmentMembers(definitions, new Date(0)).ofSegment(id));
    return { ...filters, segment_id: id };
  };
