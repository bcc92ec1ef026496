import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { dueInstants } from "#core/domain/messages/due-instants.ts";
import { type DueIn, isKnownZone } from "#core/domain/messages/local-time.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import { chunkSize } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { isOptimized } from "../counts.ts";
import { restFrom } from "../delivery/by-variant.ts";
import { suppress } from "../delivery/delivery-row.ts";
import { type Later, notAttempted } from "../delivery/later.ts";
import type { Deliver, Delivered, Work } from "../delivery/work.ts";
import { byBestHour, type OptimizedDeps } from "./optimized.ts";

export type ByLocalTimeDeps = OptimizedDeps & {
  load: (ids: readonly string[]) => Promise<Reached[]>;
  /** Stores deliveries; gives the ids that were stored before. */
  record: (rows: readonly DeliveryRow[]) => Promise<Set<string>>;
  clock: Clock;
};

/** Whether a message goes to each recipient at an instant of their own. */
export const isTimed = ({ options }: Pick<MessageRow, "options">): boolean => options.delayed_option !== undefined;

/**
 * Sorts the recipients of a piece of work by when they are due, where its message goes to each at their local time or in their best hour: nobody
 * is sent to, and all are left for later. Everything else is delivered. Nobody is sorted twice, so that each is sent to once,
 * whatever becomes of their zone. Source: docs/reference/timing.md#local-time.
 */
export const byLocalTime =
  (deps: ByLocalTimeDeps, deliver: Deliver): Deliver =>
  async (work, lease) => {
    const { chunk, message } = work;
    if (!isTimed(message) || chunk.scheduled_for !== undefined) return deliver(work, lease);
    const sorted: Sorted = { later: [], skipped: [] };
    const sort = isOptimized(message) ? sortingByHour(deps, work) : sortingByZone(deps, work);
    for (const page of pagesOf(work)) {
      if (lease.isOver()) return { ...nobody(), halted: true };
      const rows = work.rows === undefined ? await deps.load(page) : chosen(work.rows, page);
      await sort(rows, sorted);
    }
    const stored = sorted.skipped.map((row) =>
      suppress(notAttempted(chunk, row, deps.clock.now()), "local_time_missed"),
    );
    const known = stored.length === 0 ? new Set<string>() : await deps.record(stored);
    return { ...nobody(), stored, fresh: stored.filter(({ _id }) => !known.has(_id)), later: sorted.later };
  };

type Sorted = { later: Later[]; skipped: Reached[] };

type Sort = (rows: readonly Reached[], sorted: Sorted) => Promise<void>;

const sortingByZone = ({ zonesOf }: ByLocalTimeDeps, { app, message }: Work): Sort => {
  const dueIn = dueOf(message, app);
  return async (rows, { later, skipped }) => {
    const clocks = await zonesOf(rows);
    for (const subscription of rows) {
      const zone = clocks.get(subscription._id)?.zone ?? null;
      const isZoneUnknown = zone === null || !isKnownZone(zone, message.created_at);
      const at = dueIn(subscription)(isZoneUnknown ? settingsOf(app).time_zone : zone);
      if (at === null) skipped.push(subscription);
      else later.push({ subscription, at, isZoneUnknown });
    }
  };
};

const sortingByHour = (deps: ByLocalTimeDeps, { app, message }: Work): Sort => {
  const sort = byBestHour(deps);
  return async (rows, { later }) => void later.push(...(await sort(message, app, rows)));
};

type DueOf = (recipient: Reached) => DueIn;

/** Who waits for a form to be chosen is due by their clock after that. */
const dueOf = (message: MessageRow, app: AppRow): DueOf => {
  const usual = dueInstants(message, app);
  const known = new Map<number, DueIn>();
  return ({ user_id: person }) => {
    const from = restFrom(message, person);
    if (from === null) return usual;
    const dueIn = known.get(from.getTime()) ?? dueInstants(message, app, from);
    known.set(from.getTime(), dueIn);
    return dueIn;
  };
};

const pagesOf = ({ chunk: { recipients } }: Work): string[][] =>
  Array.from({ length: Math.ceil(recipients.length / chunkSize) }, (_, i) =>
    recipients.slice(i * chunkSize, (i + 1) * chunkSize),
  );

const chosen = (rows: readonly Reached[], ids: readonly string[]): Reached[] => {
  const wanted = new Set(ids);
  return rows.filter(({ _id }) => wanted.has(_id));
};

const nobody = (): Delivered => ({ stored: [], fresh: [], again: [], invalid: [], doubted: 0, halted: false });
