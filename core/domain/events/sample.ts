import { eventTypes } from "../../schema/events/catalogue.ts";
import type { EventEnvelope, EventKind } from "../../schema/events/envelope.ts";
import { makeEvent } from "./make.ts";

/** An invented event of a kind, as an endpoint would be sent it. The same arguments give the same event. */
export const sampleEvent = (kind: EventKind, appId: string, now: Date): EventEnvelope => {
  const { example, subject } = eventTypes[kind];
  const data = { ...example, ...("app_id" in example && { app_id: appId }) };
  return makeEvent({ kind, appId, subjectId: subjectOf(data, subject), data, at: now, from: ["sample", appId] });
};

const subjectOf = (data: Record<string, unknown>, paths: readonly string[]): string | null => {
  const values = paths.map((path) =>
    path.split(".").reduce<unknown>((node, name) => Reflect.get(Object(node), name), data),
  );
  return values.find((value) => typeof value === "string") ?? null;
};
