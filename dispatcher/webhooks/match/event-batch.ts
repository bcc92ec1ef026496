import { Type } from "typebox";
import { type EventEnvelope, eventKinds } from "#core/schema/events/envelope.ts";
import { Nullable } from "#core/schema/json/common.ts";
import { parser } from "#core/schema/json/parser.ts";

const Id = Type.String({ minLength: 1, maxLength: 64 });

const Event = Type.Object({
  id: Id,
  type: Type.Enum([...eventKinds]),
  timestamp: Type.String({ format: "date-time" }),
  app_id: Id,
  subject_id: Nullable(Type.String()),
  api_version: Type.Literal("1.0"),
  data: Type.Record(Type.String(), Type.Unknown()),
});

/** Reads a batch of events. */
export const eventBatch: (input: unknown) => EventEnvelope[] = parser(Type.Array(Event, { maxItems: 1000 }));
