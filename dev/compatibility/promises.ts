import { allResources } from "#core/channels/all-resources.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import { eventKinds } from "#core/schema/events/envelope.ts";
import { customResourceDefinition } from "#core/schema/kubernetes/crd.ts";
import { document } from "../../apiserver/features.ts";
import { type CustomResourceDefinition, kindsDocument } from "./kinds-document.ts";
import type { OpenApi } from "./openapi.ts";

/** What clients, receivers of events and people with custom resources rely on: an OpenAPI document for each of them. */
export const promises = (): Record<"rest" | "events" | "kinds", OpenApi> => ({
  rest: document() as unknown as OpenApi, // sound: it is one
  events: eventsDocument(),
  kinds: kindsDocument(allResources.map(customResourceDefinition) as CustomResourceDefinition[]), // sound: it is what they build
});

/** Each kind of event as if it were read: what is in its `data` must stay there. */
const eventsDocument = (): OpenApi => ({
  openapi: "3.1.0",
  info: { title: "Events", version: "1" },
  paths: Object.fromEntries(
    eventKinds.map((kind) => [`/${kind}`, { get: { responses: answer(eventTypes[kind].data) } }]),
  ),
});

const answer = (schema: object): object => ({
  200: { description: "data", content: { "application/json": { schema } } },
});
