import { eventTypes } from "#core/schema/events/catalogue.ts";
import { exampleAppId, exampleTime } from "#core/schema/events/refs.ts";
import type { Json } from "../http/feature.ts";
import type { Form } from "./form-samples.ts";
import { type SampleRequest, samplesOf } from "./samples.ts";

/**
 * The OpenAPI document as the reference at `/docs/` shows it: with a request for a shell and in TypeScript for every
 * operation, and the events that endpoints get. `baseUrl` is where clients reach the interface.
 */
export const referenceOf = (document: Json, baseUrl: string): Json => {
  const { paths, info, tags, ...rest } = document as Document; // sound: openapi() made it
  const operations = (path: string, methods: Record<string, Operation>) =>
    Object.entries(methods).map(([method, operation]): [string, Json] => {
      const request = requestOf({ document, baseUrl, path, method, operation });
      return [method, { ...operation, "x-codeSamples": samplesOf(request) }];
    });
  return {
    ...rest,
    info: { ...info, description: introduction },
    servers: [{ url: baseUrl }],
    tags: [...tags, { name: eventsTag, description: eventsAre }],
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, methods]) => [path, Object.fromEntries(operations(path, methods))]),
    ),
    webhooks: webhooks(),
  };
};

type Parameter = { name: string; in: string; required?: boolean; example?: unknown };
type Operation = Json & {
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> };
};
type Document = Json & { info: Json; tags: Json[]; paths: Record<string, Record<string, Operation>> };

export const introduction = `Multi-channel messaging. Send \`Authorization: Bearer <key>\` with each request; JSON in, JSON out.

Members and values of enumerations may be added: clients ignore what they do not know. Lists come in pages: \`next_cursor\`
is the \`cursor\` of the next one. Repeat a request that makes something with the same \`Idempotency-Key\`.

The plain document is [openapi.json](../v1/openapi.json).`;

const eventsTag = "Events to your endpoints";

const eventsAre = "What an endpoint gets by `POST`, signed as Standard Webhooks says.";

type Shown = { document: Json; baseUrl: string; path: string; method: string; operation: Operation };

/** A request of an operation, with the example of everything that it needs. */
const requestOf = ({ document, baseUrl, path, method, operation }: Shown): SampleRequest => {
  const { parameters = [], security } = operation;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const example = parameters.find((one) => one.in === "path" && one.name === name)?.example;
    return encodeURIComponent(String(example));
  });
  const key = parameters.find(({ name }) => name === "Idempotency-Key")?.example;
  return {
    method: method.toUpperCase(),
    url: `${baseUrl.replace(/\/+$/, "")}${filled}${queryOf(parameters)}`,
    headers: typeof key === "string" ? { "Idempotency-Key": key } : {},
    caller: callerOf(security),
    ...contentOf(document, operation),
  };
};

/** Who calls, by what the document says of an operation: a key where it says nothing. */
const callerOf = (security: Shown["operation"]["security"]): SampleRequest["caller"] => {
  const [needed] = security ?? [{ apiKey: [] }];
  if (needed === undefined) return "nobody";
  if ("device" in needed) return "device";
  return "app" in needed ? "app" : "key";
};

/** Only what has to be given: an example of each filter would find nothing. */
const queryOf = (parameters: readonly Parameter[]): string => {
  const needed = parameters.filter((one) => one.in === "query" && (one.required === true || one.name === "app_id"));
  const query = new URLSearchParams(needed.map(({ name, example }): [string, string] => [name, String(example)]));
  return query.size === 0 ? "" : `?${query.toString()}`;
};

/** The first example of the schema of a body. */
const contentOf = (document: Json, { requestBody }: Operation): Pick<SampleRequest, "body" | "form"> => {
  const [[type, content] = []] = Object.entries(requestBody?.content ?? {});
  const { schemas } = document["components"] as { schemas: Record<string, BodySchema> }; // sound: openapi() made it
  const schema = schemas[content?.schema.$ref?.split("/").at(-1) ?? ""];
  if (schema === undefined) return {};
  const [example] = schema.examples ?? [];
  return type === "multipart/form-data" ? { form: formOf(schema, example) } : { body: example };
};

type BodySchema = { properties?: Record<string, { contentMediaType?: string }>; examples?: unknown[] };

/** A form is sent with a file of the disk, whatever the example has in it. */
const formOf = ({ properties = {} }: BodySchema, example: unknown): Form => {
  const isFile = (name: string): boolean => properties[name]?.contentMediaType !== undefined;
  const values = Object.entries(example as Record<string, string>); // sound: a form's members are texts
  const file = Object.keys(properties).find(isFile) ?? "file";
  return { fields: values.filter(([name]) => !isFile(name)), file: { name: file, path: "people.csv" } };
};

/** Each kind of event as the request that an endpoint gets. */
const webhooks = (): Json =>
  Object.fromEntries(
    Object.entries(eventTypes).map(([type, { description, emitted, data, example }]) => {
      const envelope = { id: "evt_01JDKQ4WSM3K5XNB7TZ0GQ8VRD", type, timestamp: exampleTime, app_id: exampleAppId };
      const content = { schema: envelopeOf(type, data), example: { ...envelope, api_version: "1.0", data: example } };
      const post = {
        operationId: `on ${type}`,
        summary: type,
        description: emitted ? description : `${description} This release does not emit it.`,
        tags: [eventsTag],
        security: [],
        requestBody: { content: { "application/json": content } },
        responses: { "2XX": { description: "it was taken; anything else is tried again" } },
      };
      return [type, { post }];
    }),
  );

const envelopeOf = (type: string, data: object): Json => ({
  type: "object",
  required: ["id", "type", "timestamp", "app_id", "api_version", "data"],
  properties: {
    id: { type: "string", description: "the same in each request about this event: go by it to tell repeats" },
    type: { const: type },
    timestamp: { type: "string", format: "date-time", description: "when it happened" },
    app_id: { type: "string" },
    subject_id: { type: ["string", "null"], description: "what it is about" },
    api_version: { const: "1.0" },
    data,
  },
});
