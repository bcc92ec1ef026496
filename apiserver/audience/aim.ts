import { type MessageAim, nobodyChosen, openAim } from "#core/domain/segments/aim.ts";
import { type FieldError, invalid, refuse } from "#core/errors.ts";
import type { Target } from "#core/schema/messages/notification.ts";
import { checkFilter, usable } from "#core/storage/segments/check-filter.ts";
import { type DefinitionRow, type Segments, TooManySegments } from "#core/storage/segments/segments.ts";
import { selectors } from "./audience.ts";

export type AimOf = (appId: string, target: Target) => Promise<MessageAim | null>;

/**
 * What a target says by segments and a filter, with the definitions of the segments; null when it says nothing by them.
 * `target` has no members that ask for nothing. @throws ValidationError for unknown segments, and for a faulty filter
 */
export const aimOf =
  ({ segments }: { segments: Pick<Segments, "called" | "definitions"> }): AimOf =>
  async (appId, target) => {
    const { included_segments: included = [], excluded_segments: excluded = [], filters } = target;
    if (included.length === 0 && excluded.length === 0 && filters === undefined) return null;
    const rows =
      included.length + excluded.length === 0 ? [] : await segments.called(appId, [...included, ...excluded]);
    const ids = new Map([
      ...rows.map(({ name, _id }): [string, string] => [name, _id]),
      ...rows.map(({ _id }): [string, string] => [_id, _id]), // behind the names: an id goes before them
    ]);
    refuse([...unknown("included_segments", included, ids), ...unknown("excluded_segments", excluded, ids)]);
    const checked =
      filters === undefined ? null : await checkFilter({ segments })({ _id: appId }, filters, "target.filters");
    const named = [...included, ...excluded].map((one) => ids.get(one) ?? one);
    const definitions = await definitionsOf(segments, appId, [...named, ...(checked?.names ?? [])]);
    const isChosen = selectors.some((selector) => target[selector] !== undefined);
    const aim: MessageAim = {
      isEveryone: target.all === true || (!isChosen && included.length === 0),
      included: named.slice(0, included.length),
      excluded: named.slice(included.length),
      filter: checked?.filter ?? null,
      segments: definitions.map(({ _id, kind, filter }) => ({ _id, kind, filter })),
    };
    usable("target", () => openAim(aim, new Date(0), nobodyChosen));
    return aim;
  };

const unknown = (member: string, named: readonly string[], ids: ReadonlyMap<string, string>): FieldError[] =>
  named.flatMap((one, i) =>
    ids.has(one)
      ? []
      : [{ field: `target.${member}[${i}]`, message: "is no segment of the app, by its id or its name" }],
  );

const definitionsOf = async (
  segments: Pick<Segments, "definitions">,
  appId: string,
  ids: readonly string[],
): Promise<DefinitionRow[]> => {
  try {
    return ids.length === 0 ? [] : [...(await segments.definitions(appId, ids)).values()];
  } catch (error) {
    if (error instanceof TooManySegments) throw invalid("target", error.message);
    throw error;
  }
};
