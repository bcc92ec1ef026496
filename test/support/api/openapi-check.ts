import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { document as served } from "../../../apiserver/features.ts";

type Json = Record<string, unknown>;

const asTheyAre = new Set(["if", "then", "else", "allOf", "examples", "example"]);

const document = closed(served()) as Json & { paths: Record<string, Record<string, Json>> };
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats, code: { optimize: false } }); // to optimize takes as long as the rest
ajv.addSchema({ $id: "openapi", ...document });
const compiled = new Map<string, ValidateFunction>();
const templates = Object.keys(document.paths)
  .sort((a, b) => a.split("{").length - b.split("{").length) // a literal name comes before a parameter
  .map((template) => ({ template, pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`) }));

/**
 * Throws unless a reply is what the OpenAPI document says: its status is documented for the operation, and the body
 * fits the schema with no member beside it. What no operation answered has to be the error envelope.
 */
export const checkReply = (method: string, path: string, status: number, body: unknown): void => {
  if (status === 304 && body === undefined) return; // as RFC 9110 15.4.5 has it
  const pointer = schemaPointer(method === "HEAD" ? "GET" : method, path, status);
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
  compiled.set(pointer, validate);
  if (validate(body)) return;
  throw new Error(`${method} ${path} ${status} breaks its document: ${ajv.errorsText(validate.errors)}`);
};

const errorPointer = "/components/schemas/Error";

/** The path of the interface that an address means; undefined when it means none. */
export const templateOf = (path: string): string | undefined =>
  templates.find(({ pattern }) => pattern.test(path))?.template;

const schemaPointer = (method: string, path: string, status: number): string => {
  const template = templateOf(path);
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
  if (template === undefined || operation === undefined) return errorPointer; // 404, 405, and the like
  const responses = operation["responses"] as Record<string, Json>;
  const response = responses[status];
  if (response === undefined) throw new Error(`${method} ${template} does not document status ${status}`);
  if ("$ref" in response) return errorPointer;
  const place = ["paths", template, method.toLowerCase(), "responses", String(status), "content", "application/json"];
  return `/${place.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}/schema`;
};

/**
 * The same with every object refusing members it does not name: stricter than what clients read. Conditions look at
 * some members only, and examples are no schemas.
 */
export function closed(node: unknown): unknown {
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map(closed);
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, asTheyAre.has(key) ? value : closed(value)]),
  );
  const isOpen = copy["type"] === "object" && copy["properties"] !== undefined && !("additionalProperties" in copy);
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
