import { sampleEvent } from "#core/domain/events/sample.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import { type EventKind, eventKinds } from "#core/schema/events/envelope.ts";
import { exampleAppId, exampleTime } from "#core/schema/events/refs.ts";
import type { GeneratedFile } from "./generated-file.ts";

/** docs/events.md: every kind of event with the members of its `data` and an example. */
export const eventsPage = (): GeneratedFile[] => [{ path: "docs/events.md", text: page }];

/** What the page reads of a JSON Schema. */
type Schema = {
  type?: string;
  description?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
};

const section = (kind: EventKind): string => {
  const { description, emitted, subject } = eventTypes[kind];
  const about = subject.map((path) => `\`data.${path}\``).join(", else ");
  const sample = sampleEvent(kind, exampleAppId, new Date(exampleTime));
  return `### ${kind}

${description}${emitted ? "" : " *Nothing in this release emits it.*"} \
${about === "" ? "It has no subject." : `\`subject_id\` is ${about}.`}

${membersOf(kind)}

\`\`\`json
${JSON.stringify(sample.data, null, 2)}
\`\`\`
`;
};

/** Kinds of one shape are described once. */
const membersOf = (kind: EventKind): string => {
  const shape = JSON.stringify(eventTypes[kind].data);
  const first = eventKinds.find((other) => JSON.stringify(eventTypes[other].data) === shape) ?? kind;
  if (first !== kind) return `Its members are those of [${first}](#${first.replaceAll(".", "")}).`;
  const table = rows(eventTypes[kind].data);
  return ["| Member | Type | Meaning |", "|---|---|---|", ...table].join("\n");
};

/** Members that can have a value, those of objects within below them. */
const rows = ({ properties = {}, required = [] }: Schema, prefix = ""): string[] =>
  Object.entries(properties)
    .filter(([, schema]) => schema.type !== "null")
    .flatMap(([name, schema]) => {
      const path = `${prefix}${name}`;
      const isOptional = !required.includes(name);
      const row = `| \`${path}\` | ${typeOf(schema)}${isOptional ? ", may be absent" : ""} | ${meaningOf(schema)} |`;
      return [row, ...rows(schema, `${path}.`), ...rows(schema.items ?? {}, `${path}[].`)];
    });

const typeOf = (schema: Schema): string => {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return "string";
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  return schema.format ?? schema.type ?? "any";
};

const meaningOf = (schema: Schema): string => {
  const known = [schema, ...(schema.anyOf ?? [])];
  const values = known.flatMap(({ enum: list }) => list ?? []).map((value) => `\`${String(value)}\``);
  const texts = known.flatMap(({ description, format }) => (description && !format ? [description] : []));
  return [...texts, ...(values.length > 0 ? [`one of ${values.join(", ")}`] : [])].join("; ").replaceAll("|", "\\|");
};

const silent = eventKinds.filter((kind) => !eventTypes[kind].emitted);

const page = `# Events

<!-- Generated from core/schema/events/catalogue.ts by \`make generate\`. -->

What an endpoint is sent (docs/webhooks.md) is an event:

| Member | Meaning |
|---|---|
| \`id\` | \`evt_…\`; the same each time that the event is sent, also in a replay |
| \`type\` | one of the ${eventKinds.length} kinds below |
| \`timestamp\` | when it happened |
| \`app_id\` | the app that it is about |
| \`subject_id\` | id of the thing that it is about |
| \`api_version\` | \`1.0\` |
| \`data\` | what happened; each kind has a closed list of members |
| \`truncated\` | \`true\` when the longest texts of \`data\` were cut to keep the body within 65,536 bytes |

\`data\` of every kind but webhook.test has \`message_id\`, \`campaign_id\`, \`journey_id\`, \`delivery_id\`,
\`subscription_id\`, \`user_id\`, \`external_id\` and \`channel\`. The tables leave out those that are always null.

The same list, with JSON Schemas, is the reply of \`GET /v1/apps/{appId}/webhooks/event-types\`.

## Custom events

What your own systems report by \`POST /v1/apps/{appId}/events\` comes as \`event.received\`. It is kept, counted by name, day
and person, and may count as a conversion of the message that led to it, which \`conversion.created\` tells. How to send
events and to read their counts is in [api.md](api.md#custom-events), the rules are in [the
reference](reference/events.md#definitions).

## Not emitted yet

These kinds can be subscribed to, previewed and tested with, but nothing in this release causes them:
${silent.map((kind) => `\`${kind}\``).join(", ")}.

## The kinds

${eventKinds.map(section).join("\n")}`;
