import { type FieldError, refuse } from "#core/errors.ts";
import {
  applicable,
  type CreateExport,
  type ExportFilters,
  type ExportType,
  statusesOf,
} from "#core/schema/exports/export.ts";

/**
 * Refuses what a schema cannot: filters that mean nothing to the type, and what this release does not have. Gives the
 * filters that narrow something: an empty text is none.
 * @throws ValidationError
 */
export const checkedFilters = ({ type, filters = {} }: Pick<CreateExport, "type" | "filters">): ExportFilters => {
  const given = Object.entries(filters).filter(([, value]) => value !== "" && value !== undefined);
  const wanted = Object.fromEntries(given) as ExportFilters; // sound: members of theirs
  refuse([...given.flatMap(([name]) => nameErrors(type, name)), ...valueErrors(type, wanted)]);
  return wanted;
};

const nameErrors = (type: ExportType, name: string): FieldError[] =>
  applicable[type].some((one) => one === name)
    ? []
    : [{ field: `filters.${name}`, message: `does not apply to ${type}` }];

const valueErrors = (type: ExportType, { status, from, to }: ExportFilters): FieldError[] => {
  const statuses = statusesOf[type];
  const isUnknown = status !== undefined && statuses !== undefined && !statuses.includes(status);
  const isEmpty = from !== undefined && to !== undefined && new Date(from) > new Date(to);
  return [
    ...(isUnknown ? [{ field: "filters.status", message: `must be one of ${statuses.join(", ")}` }] : []),
    ...(isEmpty ? [{ field: "filters.to", message: "must not be before filters.from" }] : []),
  ];
};
