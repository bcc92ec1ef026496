import { knownErrors } from "../errors.ts";
import type { Operation, Reference } from "../model.ts";
import { referred, type Schema } from "../schemas/schema.ts";

/** What the search knows of a page: its address, what is shown of it, and what it is found by. */
export type Entry = { to: string; title: string; about: string; words: string };

/** Every operation, event, error and schema, with the names of their members. */
export const entriesOf = ({ groups, events, schemas }: Reference): Entry[] => [
  ...groups.flatMap(({ tag, operations }) =>
    operations.map((operation) => ({
      to: `operations/${operation.operationId}`,
      title: operation.summary,
      about: `${operation.method} ${operation.path}`,
      words: [operation.operationId, tag, ...namesIn(operation, schemas)].join(" "),
    })),
  ),
  ...events.map((event) => ({
    to: `events/${event.summary}`,
    title: event.summary,
    about: `Event: ${event.description}`,
    words: namesIn(event, schemas).join(" "),
  })),
  ...knownErrors.map(({ code, status, meaning }) => ({
    to: `errors#${code}`,
    title: code,
    about: `Error ${status}: ${meaning}`,
    words: "",
  })),
  ...Object.entries(schemas).map(([name, schema]) => ({
    to: `schemas/${name}`,
    title: name,
    about: "Schema",
    words: [...membersIn(schema, {}, new Set())].join(" "),
  })),
];

/** Names of the parameters and of the members of the body of an operation. */
const namesIn = ({ parameters = [], requestBody }: Operation, schemas: Reference["schemas"]): string[] => {
  const bodies = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema);
  const members = bodies.flatMap((schema) => [...membersIn(schema, schemas, new Set())]);
  return [...new Set([...parameters.map(({ name }) => name), ...members])];
};

/** Each schema is looked into once: those that name themselves end. */
const membersIn = (given: Schema, schemas: Reference["schemas"], seen: Set<Schema>): Set<string> => {
  if (typeof given === "boolean" || seen.has(given)) return new Set();
  seen.add(given);
  const shown = schemas[referred(given) ?? ""] ?? given;
  const { properties = {}, items, anyOf = [], allOf = [] } = shown;
  const below = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...anyOf, ...allOf];
  if (shown !== given) below.push(shown);
  return new Set([...Object.keys(properties), ...below.flatMap((one) => [...membersIn(one, schemas, seen)])]);
};
