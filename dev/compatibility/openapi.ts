/** An OpenAPI document, as JSON. */
export type OpenApi = { openapi: string; info: object; paths: Record<string, object> };
