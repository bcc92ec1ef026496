import { contradictions } from "#core/domain/live-activities/schema.ts";
import { type FieldError, refuse } from "#core/errors.ts";
import { type ActivitySchema, unusableNames } from "#core/schema/live-activities/type.ts";

export type Schemas = {
  content_state_schema?: ActivitySchema | undefined;
  attributes_schema?: ActivitySchema | undefined;
};

/** Throws for a name by which the type could not be found. @throws ValidationError */
export const checkName = (name: string): void =>
  refuse(unusableNames.includes(name) ? [{ field: "name", message: "is not a name that a path can have" }] : []);

/** Throws unless the schemas make sense: what is required has to be described, and can be. @throws ValidationError */
export const checkSchemas = (schemas: Schemas): void =>
  refuse([
    ...problemsOf("content_state_schema", schemas.content_state_schema),
    ...problemsOf("attributes_schema", schemas.attributes_schema),
  ]);

const problemsOf = (member: string, schema: ActivitySchema | undefined): FieldError[] =>
  schema === undefined ? [] : [...contradictions(schema, member), ...undescribed(member, schema)];

const undescribed = (member: string, { required = [], properties }: ActivitySchema): FieldError[] =>
  required.flatMap((name, i) =>
    Object.hasOwn(properties, name)
      ? []
      : [{ field: `${member}.required[${i}]`, message: "is not among the properties" }],
  );
