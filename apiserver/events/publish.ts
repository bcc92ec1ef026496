import type { Clock } from "#core/domain/clock.ts";
import { receive } from "#core/domain/events/custom.ts";
import { type FieldError, refuse } from "#core/errors.ts";
import {
  type CustomEvent,
  customEventLimits,
  type EventsAccepted,
  type PublishEvents,
} from "#core/schema/events/custom.ts";
import { definitionLimits } from "#core/schema/events/definition.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { type GivenEvent, givenEvent } from "../publishing/claim-events.ts";
import type { EventStore } from "../publishing/event-store.ts";
import type { Define } from "./definitions/define.ts";

export type PublishDeps = {
  define: Define;
  keep: EventStore["keep"];
  count: (outcome: "accepted" | "duplicate" | "refused", n: number) => void;
  clock: Clock;
};

/**
 * `onceId`: names a request that may be made again; its events without an id then have one that follows from it. `source`:
 * who sent them, when it was no server of the app's.
 */
export type PublishRequest = {
  app: AppRow;
  body: PublishEvents;
  traceparent: string;
  onceId: string | null;
  source?: "sdk";
};

/**
 * Accepts custom events: JetStream or the store has them when this resolves. An event whose time is refused does not stop
 * the others; one whose name finds no room among the definitions is stored, and listed as such.
 * @throws ValidationError when one has a wrong form; then none is stored
 */
export const publishEvents =
  ({ define, keep, count, clock }: PublishDeps) =>
  async ({ app, body: { events }, traceparent, onceId, source }: PublishRequest): Promise<EventsAccepted> => {
    refuse(events.flatMap(problemsOf).slice(0, mostProblems));
    const now = clock.now();
    const kept: GivenEvent[] = [];
    const errors: EventsAccepted["errors"] = [];
    for (const [index, given] of events.entries()) {
      const id = given.id ?? (onceId === null ? undefined : `${onceId}/${index}`);
      const judged = receive({ ...given, ...(id !== undefined && { id }) }, app._id, now, source);
      if (judged.kind === "refused") errors.push({ index, ...judged.error });
      else kept.push(givenEvent(judged.event, judged.once));
    }
    errors.push(...(await undefinedAmong(define, app, events, errors)));
    const given = { ...ofApp(app), traceparent, events: kept };
    const duplicates = kept.length === 0 ? 0 : await keep(given);
    const accepted = kept.length - duplicates;
    count("accepted", accepted);
    count("duplicate", duplicates);
    count("refused", events.length - kept.length);
    return { accepted, duplicates, errors };
  };

/** Names of events that are taken are defined at first sight, as long as there is room. */
const undefinedAmong = async (
  define: Define,
  app: AppRow,
  events: readonly CustomEvent[],
  refused: readonly { index: number }[],
): Promise<EventsAccepted["errors"]> => {
  const isRefused = new Set(refused.map(({ index }) => index));
  const names = events.map(({ name }) => name.trim());
  const defined = await define(app, [...new Set(names.filter((_, index) => !isRefused.has(index)))]);
  return [...names.keys()]
    .filter((index) => !isRefused.has(index) && !defined.has(names[index] ?? ""))
    .map((index) => ({ index, ...undefinedName }));
};

const undefinedName = {
  code: "DEFINITION_LIMIT" as const,
  message: `it is stored and not counted: an app has at most ${definitionLimits.definitions} names of events`,
};

const mostProblems = 20; // as everywhere

/** What the schema cannot say. */
const problemsOf = (event: CustomEvent, index: number): FieldError[] => {
  const { user_id: userId, external_id: externalId, properties } = event;
  const at = `events[${index}]`;
  const problems: FieldError[] = [];
  if (userId !== undefined && externalId !== undefined) {
    problems.push({ field: `${at}.external_id`, message: "cannot be given beside user_id" });
  }
  if (properties !== undefined && isTooDeep(properties, customEventLimits.depth)) {
    const message = `must not nest deeper than ${customEventLimits.depth}`;
    problems.push({ field: `${at}.properties`, message });
  }
  if (properties !== undefined && isTooLarge(event)) {
    problems.push({ field: at, message: `must have at most ${customEventLimits.bytes} bytes of JSON` });
  }
  return problems;
};

/** Whether objects and lists lie in each other deeper than that; the body's own depth is bounded. */
const isTooDeep = (node: unknown, depth: number): boolean =>
  typeof node === "object" &&
  node !== null &&
  (depth === 0 || Object.values(node).some((child) => isTooDeep(child, depth - 1)));

/** Without properties no event is. */
const isTooLarge = (event: CustomEvent): boolean => Buffer.byteLength(JSON.stringify(event)) > customEventLimits.bytes;
