import { escaped } from "../../http/markup.ts";
import { knownErrors } from "../errors.ts";
import { block, code, folded, inline, list, value } from "../html.ts";
import type { Listed, Operation, Parameter, Reference } from "../model.ts";
import type { Sample } from "../samples.ts";
import { about, membersOf } from "../schemas/members.ts";
import { referred, type Schema } from "../schemas/schema.ts";
import { kindOf } from "../schemas/words.ts";
import { badge, type Page } from "./layout.ts";

const root = "../";

/** All that is known of an operation. */
export const operationPage = (operation: Listed, reference: Reference): Page => ({
  title: operation.summary,
  path: `operations/${operation.operationId}`,
  content: [
    `<h1>${inline(operation.summary)}</h1>`,
    `<p class="address">${badge(operation.method)} ${code(operation.path)}</p>`,
    operation.deprecated === true ? "<p><strong>Deprecated.</strong></p>" : "",
    `<p>${inline(operation.description)}</p>`,
    section("request", "Example", samples(operation["x-codeSamples"])),
    parameters(operation.parameters ?? []),
    body(operation, reference),
    replies(operation, reference),
    errors(operation),
    limits(operation, reference),
    neighbours(operation, reference),
  ]
    .filter(Boolean)
    .join("\n"),
});

const section = (id: string, title: string, content: string): string =>
  content === "" ? "" : `<section aria-labelledby="${id}">\n<h2 id="${id}">${title}</h2>\n${content}\n</section>`;

/** The same request in every language, of which one is open. */
export const samples = (all: readonly Sample[]): string =>
  all
    .map(({ label, source }, n) =>
      folded(escaped(label), block(source), ` class="sample" name="sample"${n === 0 ? " open" : ""}`),
    )
    .join("\n");

const places = { path: "In the path", query: "In the query", header: "Headers" } as const;

const parameters = (all: readonly Parameter[]): string =>
  Object.entries(places)
    .map(([place, title]) =>
      section(
        place,
        title,
        all.some((one) => one.in === place)
          ? `<ul class="members">\n${all
              .filter((one) => one.in === place)
              .map(parameter)
              .join("\n")}\n</ul>`
          : "",
      ),
    )
    .join("\n");

const parameter = ({ name, in: place, schema, required, description, example }: Parameter): string => {
  const own = typeof schema === "object" && description !== undefined ? { ...schema, description } : schema;
  const id = `${place}.${escaped(name)}`;
  return `<li id="${id}"><a class="name" href="#${id}">${code(name)}</a> ${about(own, { root }, required)}
${example === undefined ? "" : `<p class="bounds">such as ${value(example)}</p>`}</li>`;
};

const unfolding = '<button class="unfold" type="button" hidden>Open all</button>';

const body = ({ requestBody }: Operation, reference: Reference): string =>
  Object.entries(requestBody?.content ?? {})
    .map(([type, { schema }]) =>
      section(
        "body",
        "Body",
        [
          `<p>${code(type)}: ${kindOf(schema, root)} ${unfolding}</p>`,
          membersOf(schema, { root, schemas: reference.schemas, at: "body" }),
          examplesOf(schema, reference),
        ].join("\n"),
      ),
    )
    .join("\n");

const examplesOf = (schema: Schema, { schemas }: Reference): string => {
  const name = typeof schema === "object" ? referred(schema) : undefined;
  const examples = name === undefined ? [] : (schemas[name]?.examples ?? []);
  return examples
    .map((example, n) => folded(examples.length === 1 ? "Example" : `Example ${n + 1}`, block(pretty(example))))
    .join("\n");
};

export const pretty = (example: unknown): string => JSON.stringify(example, null, 2);

const isGood = ([status]: [string, unknown]): boolean => status.startsWith("2");

const replies = ({ responses }: Operation, reference: Reference): string => {
  const good = Object.entries(responses).filter(isGood);
  const statuses = good.map(([status]) => code(status)).join(" or ");
  const shown = good[0]?.[1].content?.["application/json"]?.schema;
  if (shown === undefined) return section("reply", "Reply", `<p>${statuses}</p>`);
  const members = membersOf(shown, { root, schemas: reference.schemas, at: "reply" });
  const named = `<p>${statuses}: ${kindOf(shown, root)}</p>`;
  return section(
    "reply",
    "Reply",
    [named, members === "" ? "" : folded("Members of the reply", members), examplesOf(shown, reference)].join("\n"),
  );
};

/** Codes are named in the descriptions of the replies that have them. */
const codesOf = ({ responses }: Operation): string[] =>
  Object.entries(responses)
    .filter((response) => !isGood(response))
    .flatMap(([, { description = "" }]) => Array.from(description.matchAll(/`(HS_\w+)`/g), ([, name = ""]) => name));

const errors = (operation: Operation): string => {
  const codes = new Set(codesOf(operation));
  return section(
    "errors",
    "Errors",
    list(
      "errors",
      knownErrors
        .filter((one) => codes.has(one.code))
        .map(({ code: name, status, meaning }) => {
          return `<span class="status">${status}</span> <a href="${root}errors#${name}">${code(name)}</a> ${inline(meaning)}`;
        }),
    ),
  );
};

/** What the document says of rates: the codes of 429, and the headers of every reply. */
const limits = ({ responses }: Operation, { headers }: Reference): string => {
  const said = responses["429"]?.description;
  const rates = Object.entries(headers).filter(([name]) => /rate-?limit/i.test(name));
  if (said === undefined || responses["429"] === undefined) return "";
  const items = rates.map(([name, { description }]) => `${code(name)}: ${inline(description)}`);
  return section(
    "limits",
    "Rate limits",
    `<p>429 is ${inline(said)}. Every reply says how much is left:</p>${list("plain", items)}`,
  );
};

const neighbours = ({ operationId }: Listed, { groups }: Reference): string => {
  const all = groups.flatMap(({ operations }) => operations);
  const at = all.findIndex((one) => one.operationId === operationId);
  return `<nav class="neighbours" aria-label="Neighbours">${neighbour("←", "prev", all[at - 1])}${neighbour("→", "next", all[at + 1])}</nav>`;
};

const neighbour = (label: string, rel: string, to: Listed | undefined): string =>
  to === undefined ? "" : `<a rel="${rel}" href="${to.operationId}">${label} ${escaped(to.summary)}</a>`;
