/** A schema of JSON Schema 2020-12, with the keywords that ours have. */
export type Schema = boolean | SchemaObject;

export type SchemaObject = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  propertyNames?: SchemaObject;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  if?: Schema;
  then?: Schema;
  else?: Schema;
  not?: Schema;
  contains?: SchemaObject;
  dependentRequired?: Record<string, string[]>;
  contentMediaType?: string;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  uniqueItems?: boolean;
  pattern?: string;
  format?: string;
  default?: unknown;
  description?: string;
  examples?: unknown[];
};

/** The name of the schema that a reference leads to. */
export const referred = ({ $ref }: SchemaObject): string | undefined => $ref?.split("/").at(-1);

/** A schema without what only wraps another one: a first `allOf` that says what the value is. */
export const unwrapped = (schema: SchemaObject): SchemaObject => {
  const { allOf: [first, ...rest] = [], ...own } = schema;
  const isWrapper = own.type === undefined && own.anyOf === undefined && own.properties === undefined;
  if (!isWrapper || typeof first !== "object" || first.if !== undefined) return schema;
  return { ...first, ...own, ...(rest.length > 0 && { allOf: rest }) };
};

/** What values of a map are; undefined for an object that is none. */
export const valuesOf = ({ patternProperties }: SchemaObject): Schema | undefined =>
  Object.values(patternProperties ?? {})[0];

/** The forms that a value may have, but null; of an object with members they are rules about these. */
export const formsOf = ({ anyOf, oneOf, properties }: SchemaObject): Schema[] =>
  properties === undefined ? (anyOf ?? oneOf ?? []).filter((form) => !isNull(form)) : [];

export const isNull = (schema: Schema): boolean => typeof schema === "object" && schema.type === "null";

/** Whether no value at all is taken. */
export const isRefused = (schema: Schema): boolean =>
  schema === false ||
  (typeof schema === "object" && typeof schema.not === "object" && Object.keys(schema.not).length === 0);
