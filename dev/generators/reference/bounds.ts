import { document } from "../../../apiserver/features.ts";
import { code, codes, figure, table } from "./markdown.ts";

/** What the pages read of a schema of the OpenAPI document. */
type Schema = {
  $ref?: string;
  type?: string;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  patternProperties?: Record<string, Schema>;
  propertyNames?: Schema;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
};

/** The tables of docs/reference/limits.md#bounds: which members of a noun's requests have which bounds. */
export const boundsTables = (): Record<string, string> =>
  Object.fromEntries(Object.entries(requests).map(([noun, names]) => [`bounds of ${noun}`, boundsTable(names)]));

/** The schemas of requests about each noun. */
const requests: Record<string, readonly string[]> = {
  messages: ["CreateNotification"],
  people: ["UpsertUser"],
  segments: ["CreateSegment", "SegmentMembers"],
  suppressions: ["CreateSuppression"],
  templates: ["CreateTemplate", "RenderTemplate"],
  "in-app messages": ["CreateInAppMessage"],
  exports: ["CreateExport"],
  "warehouse exports": ["CreateWarehouseExport", "BackfillWarehouseExport"],
  events: ["PublishEvents", "UpdateEventDefinition"],
  webhooks: ["CreateWebhook"],
  "live activity types": ["CreateLiveActivityType", "LiveActivityProperty"],
  "live activities": ["StartLiveActivity", "EndLiveActivity", "LiveActivityToken"],
  incidents: ["CreateIncident"],
};

const boundsTable = (names: readonly string[]): string => {
  const bounds = names.flatMap((name) => boundsIn({ $ref: `#/components/schemas/${name}` }));
  const byBound = Map.groupBy(bounds, ({ bound }) => bound);
  return table(
    ["Bound", "Members"],
    [...byBound].map(([bound, of]) => [bound, membersOf(of)]),
  );
};

const membersOf = (of: readonly Bound[]): string => codes([...new Set(of.map(({ path }) => path))]);

type Bound = { path: string; bound: string };

/** Each member that has a bound, also those of objects and of lists of objects. */
const boundsIn = (given: Schema, prefix = ""): Bound[] =>
  Object.entries(resolved(given).properties ?? {}).flatMap(([name, member]) => {
    if (name === "content") return []; // what a template says has the bounds of messages
    const path = `${prefix}${name}`;
    const bound = wordsOf(member).join("; ");
    const items = formsOf(member).flatMap(({ items: one }) => (one === undefined ? [] : formsOf(one)));
    return [
      ...(bound === "" ? [] : [{ path, bound }]),
      ...formsOf(member).flatMap((form) => boundsIn(form, `${path}.`)),
      ...items.flatMap((item) => boundsIn(item, `${path}[].`)),
    ];
  });

/** The bounds of a value, each in a few words; of a list and a map also those of what is in it. */
const wordsOf = (given: Schema): string[] => {
  const [form = {}, ...more] = formsOf(given);
  if (more.length > 0) return [];
  const { items, propertyNames } = form;
  const values = valuesOf(form);
  return [
    ...spanOf(form.minLength, form.maxLength, "character"),
    ...spanOf(form.minimum, form.maximum, ""),
    ...spanOf(form.minItems, form.maxItems, "item"),
    ...spanOf(form.minProperties, form.maxProperties, "member"),
    ...labelled("each name", propertyNames),
    ...labelled("each", items ?? values),
  ];
};

const labelled = (label: string, of: Schema | undefined): string[] => {
  const words = of === undefined ? [] : wordsOf(of);
  return words.length === 0 ? [] : [`${label} ${words.join(", ")}`];
};

/** What is refused by this release may have no items: that is no bound. */
const spanOf = (least: number | undefined, most: number | undefined, noun: string): string[] => {
  if (most === 0 || (least === undefined && most === undefined)) return [];
  if (least === undefined) return [`at most ${counted(most ?? 0, noun)}`];
  if (most === undefined) return [`at least ${counted(least, noun)}`];
  return [`${figure(least)}–${counted(most, noun)}`];
};

const counted = (count: number, noun: string): string =>
  noun === "" ? figure(count) : `${figure(count)} ${noun}${count === 1 ? "" : "s"}`;

const valuesOf = ({ additionalProperties: rest, patternProperties = {} }: Schema): Schema | undefined =>
  typeof rest === "object" ? rest : Object.values(patternProperties)[0];

/** What a value may be besides null: itself, or each of its alternatives. */
const formsOf = (given: Schema): Schema[] => {
  const schema = resolved(given);
  if (schema.anyOf === undefined || schema.properties !== undefined) return schema.type === "null" ? [] : [schema];
  return schema.anyOf.flatMap(formsOf);
};

const { schemas } = document()["components"] as { schemas: Record<string, Schema> }; // sound: openapi() writes them so

const resolved = (schema: Schema): Schema => {
  const name = schema.$ref?.split("/").at(-1);
  if (name === undefined) return schema;
  const found = schemas[name];
  if (found === undefined) throw new Error(`the document has no schema ${code(name)}`);
  return found;
};
