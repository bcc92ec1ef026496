import { eventTypes } from "#core/schema/events/catalogue.ts";
import type { EventTypeList } from "#core/schema/events/custom.ts";
import { eventKinds } from "#core/schema/events/envelope.ts";

/** The catalogue of events, in the order of docs/events.md. */
export const eventTypeList: EventTypeList = {
  data: eventKinds.map((type) => {
    const { description, emitted, data, example } = eventTypes[type];
    return { type, description, emitted, schema: { ...data }, example };
  }),
};
