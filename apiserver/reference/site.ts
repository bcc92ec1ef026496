import type { Json } from "../http/feature.ts";
import { script } from "./assets/script.ts";
import { logo, style } from "./assets/style.ts";
import { referenceOf } from "./document.ts";
import { modelOf, type Reference } from "./model.ts";
import { layout, type Page } from "./pages/layout.ts";
import { operationPage } from "./pages/operation.ts";
import { errorsPage, eventPage, firstPage, schemaPage, schemasPage } from "./pages/others.ts";
import { entriesOf } from "./pages/search.ts";

/** A file of the reference: its type, and what makes it. */
export type SiteFile = { type: string; make: () => Promise<string> };

/** Every file of the reference by its path below `/docs/`. Each is made when it is asked for. */
export const siteOf = (document: Json, baseUrl: string): ReadonlyMap<string, SiteFile> => {
  const shown = referenceOf(document, baseUrl);
  const reference = modelOf(shown);
  return new Map([
    ...pagesOf(reference),
    ["search.json", { type: json, make: async () => JSON.stringify(entriesOf(reference)) }],
    ["openapi.json", { type: json, make: async () => JSON.stringify(shown) }],
    asset("style.css", "text/css", style),
    asset("script.js", "text/javascript", script),
    asset("logo.svg", "image/svg+xml", logo),
  ]);
};

const json = "application/json; charset=utf-8";

const asset = (name: string, type: string, text: string): [string, SiteFile] => [
  name,
  { type: `${type}; charset=utf-8`, make: async () => text },
];

const pagesOf = (reference: Reference): [string, SiteFile][] => {
  const html = (path: string, page: () => Page): [string, SiteFile] => [
    path,
    { type: "text/html; charset=utf-8", make: async () => layout(page(), reference) },
  ];
  return [
    html("", () => firstPage(reference)),
    html("errors", () => errorsPage(reference)),
    html("schemas", () => schemasPage(reference)),
    ...reference.groups
      .flatMap(({ operations }) => operations)
      .map((one) => html(`operations/${one.operationId}`, () => operationPage(one, reference))),
    ...reference.events.map((one) => html(`events/${one.summary}`, () => eventPage(one, reference))),
    ...Object.keys(reference.schemas).map((name) => html(`schemas/${name}`, () => schemaPage(name, reference))),
  ];
};
