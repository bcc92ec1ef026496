import { fieldFamilies, fixedFields } from "#core/domain/filters/fields.ts";
import { kinds } from "#core/domain/filters/kinds.ts";
import { type TruthTable, truthNow, truthTables } from "#core/domain/filters/truth-table.ts";
import { filterLimits } from "#core/schema/segments/filter.ts";
import type { GeneratedFile } from "../generated-file.ts";
import { code, codes, figure, table } from "./markdown.ts";

/** docs/reference/filters.md: the fields, the ops, and what each op says of each sort of value. */
export const filtersPage = (): GeneratedFile[] => [{ path: "docs/reference/filters.md", text: page() }];

const page = (): string => `# Filters

<!-- Generated from core/domain/filters by \`make generate\`. -->

A filter says which people and subscriptions are meant. [Segments](segments.md) are made of filters. This page is made of
the code that decides.

\`\`\`json
{ "all": [ { "field": "tags.plan", "op": "eq", "value": "gold" }, { "none": [ { "field": "country", "op": "in", "value": ["DE", "AT"] } ] } ] }
\`\`\`

A group has exactly one of \`all\`, \`any\` and \`none\`, a list of conditions and groups. \`none\` is true when none of its
members is. An empty \`all\` and an empty \`none\` are true for everyone, an empty \`any\` for nobody.

## Rules

- What is absent, and null is absent, makes an op false; \`neq\`, \`not_in\`, \`not_contains\`, \`not_exists\`,
  \`not_within_last\` and \`not_member\` are true exactly when the op without the negation is false, so also for what is absent.
- Texts are compared with their case, except \`language\`, \`country\` and \`email.domain\`.
- A tag is a number where it is written as JSON writes one, with at most 15 digits: \`10\` equals \`10.0\`, and \`007\` is a text.
  Properties keep their types: \`10\` does not equal \`"10"\`. Lists are not walked through; \`contains\` finds an item of one.
- Versions are ordered by their numeric parts: \`1.10\` is above \`1.9\`, \`1.0\` equals \`1\`, and what follows \`-\`, \`+\` or a space
  is left out.
- A condition on a subscription is judged for each subscription. Somebody is meant when any of theirs passes; a filter
  without such a condition is judged for the person alone.
- \`timezone\` is the device's, else the person's. A \`session_count\` that is not known is 0. \`random\` is a number from 0 to 99
  that follows from the person's id and never changes.
- \`segment\` has the ops \`member\` and \`not_member\`, with the id or the name of a [segment](segments.md#members).
- \`within_radius\` is true up to \`radius_m\` metres over the surface of a sphere of the earth's size, also across the poles and the
  antimeridian. \`session_time\` and \`amount_spent\` that are not known are absent.
- Times are judged at one instant for everybody.

## Bounds

At most ${filterLimits.depth} groups within each other, ${filterLimits.conditions} conditions, ${figure(filterLimits.items)} values in a list, ${filterLimits.characters} characters in a text,
${figure(filterLimits.bytes)} bytes of JSON. An error names the path of the first fault, and in \`allowed\` what could stand there.

## Fields

${fieldTable()}

## Truth tables

Made by the function that decides, at ${truthNow.toISOString()}. A column is what is found, a row what is asked: ✓ is true.

${truthTables().map(section).join("\n\n")}
`;

const familyKinds: Record<(typeof fieldFamilies)[number], string> = {
  "tags.<name>": "tag",
  "properties.<path>": "json",
  "aliases.<label>": "text",
};

const fieldTable = (): string =>
  table(
    ["Field", "Kind", "Of"],
    [
      ...fieldFamilies.map((family) => [code(family), familyKinds[family], "user"]),
      ...[...fixedFields].map(([name, { kind, level, values }]) => [
        code(name),
        values === undefined ? kind : `${kind} of ${codes(values)}`,
        level,
      ]),
    ],
  );

const section = ({ kind, found, rows }: TruthTable): string =>
  `### ${kind}\n\nIts values are ${kinds[kind].what}.\n\n${table(
    ["Condition", ...found.map(shown)],
    rows.map(({ op, value, results }) => [
      value === undefined ? code(op) : `${code(op)} ${shown(value)}`,
      ...results.map((isTrue) => (isTrue ? "✓" : "–")),
    ]),
  )}`;

const shown = (value: unknown): string => (value === undefined ? "absent" : code(JSON.stringify(value)));
