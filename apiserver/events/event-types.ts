import type { EventTypeList } from "#core/schema/custom-event.ts";
import { eventKinds } from "#core/schema/event.ts";
import { eventTypes } from "#core/schema/event-data.ts";

/** The catalogue of events, in the order of the specification. */
export const eventTypeList: EventTypeList = {
  data: eventKinds.map((type) => {
    const { description, emitted, data, example } = eventTypes[type];
    return { type, description, emitted, schema: { ...data }, example };
  }),
};
