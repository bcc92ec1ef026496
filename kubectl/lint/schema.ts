import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { wordsOf } from "#core/schema/json/patterns.ts";
import { customResourceDefinition } from "#core/schema/kubernetes/crd.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import { brokenRules } from "./cel.ts";
import { type Finding, type Path, stepsOf } from "./finding.ts";
import { repeatedItems } from "./lists.ts";
import { isMembers, type Manifest, type Members } from "./manifest.ts";

/** What the API server would say of a resource by its kind's CRD: unknown members, the schema, and the rules of CEL. */
export const schemaFindings = (manifest: Manifest, definition: ResourceDefinition): Finding[] => {
  const { schema, validate } = checkOf(definition);
  const strange = unknownMembers(schema, manifest.value, []).map((path) =>
    manifest.finding("unknown-member", path, "is no member of this kind; the API server drops it"),
  );
  const value = structuredClone(manifest.value); // gets the defaults of its schema
  validate(value);
  const faults = [
    ...(validate.errors ?? []).filter(isTelling).map((error) => faultOf(manifest, error)),
    ...repeatedItems(schema, value, []).map((path) => manifest.finding("schema", path, "is in the list already")),
  ];
  if (faults.length > 0) return [...strange, ...faults]; // rules may ask for what is of another type
  return [...strange, ...brokenRules(schema, value).map((broken) => ruleFinding(manifest, broken))];
};

type Check = { schema: Members; validate: ValidateFunction };

const checks = new Map<string, Check>();

const checkOf = (definition: ResourceDefinition): Check => {
  const known = checks.get(definition.kind);
  if (known !== undefined) return known;
  const { spec } = customResourceDefinition(definition) as {
    spec: { versions: { schema: { openAPIV3Schema: Members } }[] };
  }; // sound: it is what it makes
  const schema = spec.versions[0]?.schema.openAPIV3Schema ?? {};
  const ajv = new Ajv({ strict: false, allErrors: true, useDefaults: true, verbose: true });
  addFormats.default(ajv);
  const check = { schema, validate: ajv.compile(schema) };
  checks.set(definition.kind, check);
  return check;
};

/** The ones that say what is wrong, not that something below is. */
const isTelling = ({ keyword }: ErrorObject): boolean => keyword !== "if";

const faultOf = (manifest: Manifest, error: ErrorObject): Finding => {
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  return manifest.finding("schema", path, messageOf(error));
};

const messageOf = ({ keyword, params, message = "is not valid" }: ErrorObject): string => {
  const values = params as Record<string, unknown>; // as ajv has them for each keyword
  if (keyword === "enum") return `must be one of ${(values["allowedValues"] as string[]).join(", ")}`;
  if (keyword === "required") return `needs ${String(values["missingProperty"])}`;
  if (keyword === "pattern") return wordsOf(String(values["pattern"])) ?? message;
  if (keyword === "type") return `must be of the type ${String(values["type"])}`;
  return message.replaceAll("NOT ", "not ");
};

const ruleFinding = (
  manifest: Manifest,
  { path, fieldPath, message }: { path: Path; fieldPath: string; message: string },
): Finding => manifest.finding("cel", [...path, ...stepsOf(fieldPath)], message);

/** Paths of members that the schema has no place for. Labels, annotations and the like are the API server's own. */
const unknownMembers = (schema: Members, value: unknown, path: Path): Path[] => {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true || isMetadata(path)) return [];
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value))
    return isMembers(items) ? value.flatMap((item: unknown, n) => unknownMembers(items, item, [...path, n])) : [];
  if (!isMembers(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = isMembers(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (isMembers(known)) return unknownMembers(known, member, [...path, name]);
    return schema["type"] === "object" && known !== true ? [[...path, name]] : [];
  });
};

const isMetadata = ([first]: Path): boolean => first === "metadata";
