import { type FieldError, refuse } from "#core/errors.ts";
import type { ActivitySchema } from "#core/schema/live-activity-type.ts";

export type Schemas = {
  content_state_schema?: ActivitySchema | undefined;
  attributes_schema?: ActivitySchema | undefined;
};

/** Throws unless the schemas make sense: what is required has to be described. @throws ValidationError */
export const checkSchemas = (schemas: Schemas): void =>
  refuse([
    ...undescribed("content_state_schema", schemas.content_state_schema),
    ...undescribed("attributes_schema", schemas.attributes_schema),
  ]);

const undescribed = (member: string, schema: ActivitySchema | undefined): FieldError[] =>
  (schema?.required ?? []).flatMap((name, i) =>
    Object.hasOwn(schema?.properties ?? {}, name)
      ? []
      : [{ field: `${member}.required[${i}]`, message: "is not among the properties" }],
  );
