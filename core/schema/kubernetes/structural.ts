/** A structural OpenAPI v3 schema, as CustomResourceDefinitions hold them. */
export type StructuralSchema = Record<string, unknown>;

/**
 * Rewrites a JSON Schema of ours (TypeBox) as the structural schema of a CRD, or throws naming the member that cannot
 * be said in one. Unknown members are pruned by the API server, so `additionalProperties: false` is dropped; a member
 * with a default need not be given, and one whose unknown fields are preserved may be anything. Source: kubernetes.io,
 * "Extend the Kubernetes API with CustomResourceDefinitions".
 */
export const structural = (schema: object, path = "schema"): StructuralSchema => {
  const input = schema as Record<string, unknown>; // a schema is plain JSON
  if (input["x-kubernetes-preserve-unknown-fields"] === true) return anything(input);
  for (const keyword of refused)
    if (input[keyword] !== undefined) throw new Error(`${path}: a CRD cannot say ${keyword}`);
  if (input["uniqueItems"] === true) throw new Error(`${path}: use x-kubernetes-list-type: set for unique items`);
  for (const key of Object.keys(input)) if (!known.has(key)) throw new Error(`${path}: unknown keyword ${key}`);
  return {
    ...copied(input),
    ...typeOf(input, path),
    ...members(input, path),
    ...mapOf(input, path),
    ...(isSchema(input["items"]) ? { items: structural(input["items"], `${path}[]`) } : {}),
    ...rules(input),
  };
};

const refused = [
  "$ref",
  "$defs",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "prefixItems",
  "contains",
] as const;

const sameInBoth = [
  "description",
  "default",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-preserve-unknown-fields",
] as const;

const rewritten = [
  "$id",
  "type",
  "enum",
  "const",
  "required",
  "properties",
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "items",
  "uniqueItems",
  "x-kubernetes-validations",
] as const;

const known = new Set<string>([...sameInBoth, ...rewritten]);

const copied = (input: Record<string, unknown>): StructuralSchema =>
  Object.fromEntries(
    sameInBoth
      .filter((key) => input[key] !== undefined)
      .map((key) => [key, key === "pattern" ? patternOf(String(input[key])) : input[key]]),
  );

/** A server's patterns are those of RE2, which knows no `\\u`: what takes its place is read the same in JavaScript. */
const patternOf = (pattern: string): string =>
  pattern.replaceAll(/\\u([0-9a-fA-F]{4})/g, (_, digits: string) =>
    digits.startsWith("00") ? `\\x${digits.slice(2)}` : String.fromCharCode(Number.parseInt(digits, 16)),
  );

/** What it may be is not said there, but that it is an object: only then rules see whether it is given. */
const anything = (input: Record<string, unknown>): StructuralSchema => ({
  ...copied(input),
  ...(input["type"] === "object" ? { type: "object" } : {}),
});

/** `const` becomes an enum of one; an enum says its type, which a structural schema must. */
const typeOf = (input: Record<string, unknown>, path: string): StructuralSchema => {
  const values = input["const"] === undefined ? input["enum"] : [input["const"]];
  if (!Array.isArray(values)) return input["type"] === undefined ? {} : { type: input["type"] };
  const types = new Set(values.map((value) => typeof value));
  const [only] = types;
  if (types.size !== 1 || only === undefined) throw new Error(`${path}: an enum must have values of one type`);
  return { type: only === "number" ? "integer" : only, enum: values };
};

const members = (input: Record<string, unknown>, path: string): StructuralSchema => {
  if (!isSchema(input["properties"])) return {};
  const entries = Object.entries(input["properties"]).map(
    ([name, schema]) => [name, structural(schema as object, `${path}.${name}`)] as const,
  );
  const given = (name: unknown): boolean =>
    entries.some(([key, schema]) => key === name && schema["default"] === undefined);
  const required = (Array.isArray(input["required"]) ? input["required"] : []).filter(given);
  return { properties: Object.fromEntries(entries), ...(required.length > 0 ? { required } : {}) };
};

/** TypeBox writes a map as `patternProperties`, which a CRD forbids. */
const mapOf = (input: Record<string, unknown>, path: string): StructuralSchema => {
  const patterns = isSchema(input["patternProperties"]) ? Object.values(input["patternProperties"]) : [];
  if (patterns.length > 1) throw new Error(`${path}: a CRD's map has values of one schema`);
  if (isSchema(patterns[0])) return { additionalProperties: structural(patterns[0], `${path}.*`) };
  if (isSchema(input["additionalProperties"])) {
    return { additionalProperties: structural(input["additionalProperties"], `${path}.*`) };
  }
  return {};
};

/** A CRD has no `propertyNames`: the bounds of a map's keys become a CEL rule. */
const rules = (input: Record<string, unknown>): StructuralSchema => {
  const own = Array.isArray(input["x-kubernetes-validations"]) ? input["x-kubernetes-validations"] : [];
  const all = [...own, ...keyRules(input["propertyNames"])];
  return all.length > 0 ? { "x-kubernetes-validations": all } : {};
};

const keyRules = (names: unknown): { rule: string; message: string }[] => {
  if (!isSchema(names)) return [];
  const { minLength = 0, maxLength, pattern } = names as { minLength?: number; maxLength?: number; pattern?: string };
  const checks = [`size(key) >= ${minLength}`];
  if (maxLength !== undefined) checks.push(`size(key) <= ${maxLength}`);
  if (pattern !== undefined) checks.push(`key.matches('${pattern}')`);
  return [
    { rule: `self.all(key, ${checks.join(" && ")})`, message: "a key is too short, too long or has other characters" },
  ];
};

const isSchema = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
