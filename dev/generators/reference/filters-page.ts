import { fieldFamilies, fixedFields } from "#core/domain/filters/fields.ts";
import { kinds } from "#core/domain/filters/kinds.ts";
import { type TruthTable, truthNow, truthTables } from "#core/domain/filters/truth-table.ts";
import { countOps, filterLimits, historyLimits } from "#core/schema/segments/filter.ts";
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
  \`not_within_last\`, \`not_member\` and \`not_performed\` are true exactly when the op without the negation is false, so also for what is absent.
- Texts are compared with their case, except \`language\`, \`country\`, \`email.domain\` and \`phone.country\`.
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
- \`phone.country\` is the country of the number of a subscription on SMS, WhatsApp or RCS, as ISO 3166-1 has it, such as
  \`DE\`; countries that share a calling code are told apart by the rest of the number. Numbers of no country, such as those of
  satellites, have none.
- \`suppressed\` is true of a subscription that the [suppression list](suppressions.md) holds messages without a category back
  from, on its channel. One whose own status is not \`subscribed\` need not be on the list.
- Times are judged at one instant for everybody.

${history()}

## Bounds

At most ${filterLimits.depth} groups within each other, ${filterLimits.conditions} conditions, ${figure(filterLimits.items)} values in a list, ${filterLimits.characters} characters in a text,
${figure(filterLimits.bytes)} bytes of JSON. An error names the path of the first fault, and in \`allowed\` what could stand there.

## Fields

${fieldTable()}

## Truth tables

Made by the function that decides, at ${truthNow.toISOString()}. A column is what is found, a row what is asked: ✓ is true.

${truthTables().map(section).join("\n\n")}
`;

const history = (): string => `## Past events

\`performed\` asks what people did: \`events.<name>\` their [custom events](events.md#custom-events) of a name,
\`messages.received\`, \`messages.opened\` and \`messages.clicked\` the messages to them that got so far.

\`\`\`json
{ "field": "events.purchase", "op": "performed", "value": { "count": { "op": "gte", "value": 3 }, "within_days": 30, "where": [{ "property": "cart.total", "op": "gt", "value": 50 }] } }
\`\`\`

| Member | Rule |
|---|---|
| \`count\` | \`op\` is one of ${codes(countOps)}, \`value\` at most ${figure(historyLimits.count)}. Left out: at least once. Who never did it has not performed it, also where \`lt\` or \`lte\` is asked |
| \`within_days\` | 1–${historyLimits.days}: so many times 24 hours before the instant of the judgement, by \`occurred_at\` of an event. Left out: as far back as events and deliveries are kept |
| \`where\` | at most ${historyLimits.where}, all of which one and the same event must meet: \`property\` is a path of its properties, with the ops and values of json below. Of messages it is \`message_id\` or \`channel\`, with \`eq\`, \`neq\`, \`in\` or \`not_in\` |

- Nothing is sampled: events and deliveries are counted one by one, as far as the [plan](limits.md) and the definition of an
  event keep them. Events are somebody's as they are when somebody is [erased](people.md): by \`external_id\`, by the user's id or by
  that of a subscription, and those of users who were merged into them.
- \`messages.received\` counts deliveries that were handed to a provider, by \`sent_at\`, unless one said that they failed or
  bounced. \`opened\` counts them by \`opened_at\`, where there is none by \`clicked_at\`, \`clicked\` by \`clicked_at\`: the first of each.
- Only those are looked up who pass all other conditions of an \`all\`. A filter on what few people did costs less with another
  condition beside it that only few pass.`;

const familyKinds: Record<(typeof fieldFamilies)[number], string> = {
  "tags.<name>": "tag",
  "properties.<path>": "json",
  "aliases.<label>": "text",
  "events.<name>": "history",
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
