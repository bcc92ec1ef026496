import { escaped } from "../../http/markup.ts";
import { introduction } from "../document.ts";
import { knownErrors } from "../errors.ts";
import { block, code, folded, inline, list, paragraphs } from "../html.ts";
import { firstOperation, type Operation, type Reference } from "../model.ts";
import { membersOf } from "../schemas/members.ts";
import { badge, type Page } from "./layout.ts";
import { pretty, samples } from "./operation.ts";

/** What a reader sees first: how a message is sent, and every operation. */
export const firstPage = ({ groups }: Reference): Page => {
  const all = groups.flatMap(({ operations }) => operations);
  const first = all.find(({ operationId }) => operationId === firstOperation);
  const sending =
    first === undefined
      ? ""
      : `<h2 id="send">Send a message</h2>
<p><a href="operations/${first.operationId}">${badge(first.method)} ${code(first.path)}</a></p>
${samples(first["x-codeSamples"])}`;
  const operations = groups.map(({ tag, description, operations }) => {
    const items = operations.map(
      ({ operationId, method, path, summary }) =>
        `<a href="operations/${operationId}">${escaped(summary)}</a><br>${badge(method)} ${code(path)}`,
    );
    return `<h2>${escaped(tag)}</h2>\n<p>${inline(description)}</p>\n${list("operations", items)}`;
  });
  const content = ["<h1>API reference</h1>", paragraphs(introduction), sending, ...operations].join("\n");
  return { title: "Introduction", path: "", content };
};

/** What an endpoint gets when something happens. */
export const eventPage = ({ summary, description, requestBody }: Operation, { schemas }: Reference): Page => {
  const root = "../";
  const [content] = Object.values(requestBody?.content ?? {});
  const members = membersOf(content?.schema ?? true, { root, schemas, at: "event" });
  const parts = [
    `<h1>${code(summary)}</h1>`,
    `<p>${inline(description)}</p>`,
    "<p>An endpoint gets it by <code>POST</code>, signed as Standard Webhooks says. Any 2xx takes it.</p>",
    `<h2 id="example">Example</h2>\n${block(pretty(content?.example))}`,
    `<h2 id="event">Members</h2>\n${members}`,
  ];
  return { title: summary, path: `events/${summary}`, content: parts.join("\n") };
};

/** Every code of an error. */
export const errorsPage = ({ schemas }: Reference): Page => {
  const items = knownErrors.map(
    ({ code: name, status, meaning, details, mayPass }) =>
      `<li id="${name}"><span class="status">${status}</span> <a class="name" href="#${name}">${code(name)}</a>
<p>${inline(meaning)}${mayPass ? ". The same request may succeed later" : ""}.${details === "" ? "" : ` Details: ${inline(details)}.`}</p></li>`,
  );
  const members = membersOf({ $ref: "#/components/schemas/Error" }, { root: "", schemas, at: "error" });
  const content = `<h1>Errors</h1>
<p>A reply that is no success has this body; <code>error.code</code> is one of those below.</p>
${members}
${folded("Example", block(pretty(schemas["Error"]?.examples?.[0])))}
<h2 id="codes">Codes</h2>
<ul class="members">\n${items.join("\n")}\n</ul>`;
  return { title: "Errors", path: "errors", content };
};

/** The names of all shapes. */
export const schemasPage = ({ schemas }: Reference): Page => {
  const links = Object.keys(schemas).map((name) => `<a href="schemas/${escaped(name)}">${escaped(name)}</a>`);
  const content = `<h1>Schemas</h1>\n<p>The bodies of requests and replies, and what they share.</p>\n${list("plain", links)}`;
  return { title: "Schemas", path: "schemas", content };
};

/** A shape, and the operations that name it. */
export const schemaPage = (name: string, { schemas, groups }: Reference): Page => {
  const root = "../";
  const schema = schemas[name] ?? {};
  const naming = JSON.stringify(`#/components/schemas/${name}`);
  const users = groups
    .flatMap(({ operations }) => operations)
    .filter((operation) => JSON.stringify(operation).includes(naming))
    .map(({ operationId, summary }) => `<a href="${root}operations/${operationId}">${escaped(summary)}</a>`);
  const examples = (schema.examples ?? []).map((example) => block(pretty(example)));
  const parts = [
    `<h1>${escaped(name)}</h1>`,
    schema.description === undefined ? "" : `<p>${inline(schema.description)}</p>`,
    membersOf(schema, { root, schemas, at: "schema", inside: [name] }),
    examples.length === 0 ? "" : `<h2 id="examples">Examples</h2>\n${examples.join("\n")}`,
    users.length === 0 ? "" : `<h2 id="users">In</h2>\n${list("plain", users)}`,
  ];
  return { title: name, path: `schemas/${name}`, content: parts.filter(Boolean).join("\n") };
};
