import { filterLimits, orderedTexts } from "#core/domain/webhooks/filter.ts";
import { conditional } from "#core/schema/json/common.ts";
import { patterns, worded } from "#core/schema/json/patterns.ts";
import { reservedHeaders } from "#core/schema/vocabulary/reserved-headers.ts";
import type { FilterCondition } from "#core/schema/webhooks/filters.ts";
import type { Json } from "../http/feature.ts";
import { changed, having } from "../http/openapi/narrow.ts";

/** Webhooks' own headers, none of them reserved: header names have no case. */
export const ownHeaders = (headers: Json): Json => ({
  allOf: [headers, { propertyNames: { not: { pattern: reserved } } }],
});

const caseless = (name: string): string => name.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

const reserved = worded(
  `^((${reservedHeaders.names.map(caseless).join("|")})$|${reservedHeaders.beginnings.map(caseless).join("|")})`,
  "is reserved, such as Host, Content-Type and whatever begins with Webhook-",
);

/** Filters whose every op has the value that it takes. That the ends of a range are in order no schema can say. */
export const fittingValues = (filters: Json): Json =>
  changed(filters, {
    conditions: ({ items, ...list }) => ({
      ...list,
      // sound: the schema of a list of objects
      items: {
        ...changed(items as Json, { field: (field) => ({ ...field, pattern: patterns.dotPath }) }),
        allOf: rules,
      },
    }),
  });

const text = { type: "string", maxLength: filterLimits.characters };
const scalar = { anyOf: [text, { type: ["number", "boolean"] }] };
const ordered = {
  anyOf: [
    { type: "number" },
    ...orderedTexts().map(({ source }) => ({
      ...text,
      pattern: worded(source, "must be an ISO 8601 date or a version such as 1.10.2"),
    })),
  ],
};
const listOf = (items: object) => ({ type: "array", items, minItems: 1, maxItems: filterLimits.items });

const withValue = (value: object) => ({ ...having("value"), properties: { value } });

const taken: [ops: FilterCondition["op"][], rule: object][] = [
  [["exists", "not_exists"], { properties: { value: false } }],
  [["eq", "neq", "contains", "not_contains"], withValue(scalar)],
  [["starts_with", "ends_with"], withValue(text)],
  [["gt", "gte", "lt", "lte"], withValue(ordered)],
  [["in", "not_in"], withValue(listOf(scalar))],
  [["between"], withValue({ ...listOf(ordered), minItems: 2, maxItems: 2 })],
  [
    ["matches_event"],
    {
      ...having("value"),
      properties: { field: { enum: ["name", "data.name"] }, value: listOf({ ...text, minLength: 1 }) },
    },
  ],
];

const rules = taken.map(([ops, rule]) =>
  conditional({ when: { ...having("op"), properties: { op: { enum: ops } } }, require: rule }),
);
