import { type Static, Type } from "typebox";
import { parser } from "#core/schema/json/parser.ts";

const EndpointHint = Type.Object({ endpoint_id: Type.String({ minLength: 1, maxLength: 64 }) });

/** Reads the body of an endpoint hint. */
export const endpointHint: (input: unknown) => Static<typeof EndpointHint> = parser(EndpointHint);
