import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { beforeIdsOf, derivedIdAt } from "#core/domain/ids.ts";
import { type WebhookDeliveryRow, webhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import { type HistoryRange, replayOf } from "#core/storage/webhooks/history.ts";
import { type WebhookRecovery, webhookRecovery } from "#core/storage/webhooks/recovery.ts";
import type { RecoveryRow, WebhookRow } from "#core/storage/webhooks/webhooks.ts";

export type RecoverDeps = { db: Db; clock: Clock };

/** Whole deliveries in memory at once, of up to 75 KB each: a page of one status, in a replay of three. */
const pageRows = 50;

/**
 * Has one page of what a recovery asks for sent again; answers the recovery as it is then. New deliveries have ids that
 * follow from the recovery, so that a page which is done twice makes each once.
 */
export const recoverPage = async ({ db, clock }: RecoverDeps, endpoint: WebhookRow): Promise<RecoveryRow> => {
  const { recovery } = endpoint;
  if (recovery === null || recovery.completed_at !== null)
    throw new Error(`${endpoint._id} has no recovery to go on with`);
  const history = webhookRecovery(db);
  const page = await pageOf(history, endpoint._id, recovery);
  const now = clock.now();
  const made = page.deliveries.map((row) => replayOf(row, replayId(recovery, row), now));
  if (made.length > 0) await webhookDeliveries(db).keep(made);
  await history.retryNow(page.retried, now);
  return {
    ...recovery,
    after: page.end,
    replayed: recovery.replayed + made.length,
    completed_at: page.end === null ? now : null,
  };
};

type Page = {
  /** To be sent again as new ones. */
  deliveries: WebhookDeliveryRow[];
  /** Ids of deliveries that wait for their next request, which is now to be made at once. */
  retried: string[];
  /** Id of the last delivery of the page; null when it was the last page. */
  end: string | null;
};

/** A `recover` sends an event again once, whichever of its deliveries it meets first; a `replay` sends each delivery. */
const replayId = ({ id, kind, requested_at: at }: RecoveryRow, row: WebhookDeliveryRow): string =>
  derivedIdAt("webhookDelivery", at, id, kind === "recover" ? row.event_id : row._id);

const pageOf = (history: WebhookRecovery, endpointId: string, recovery: RecoveryRow): Promise<Page> =>
  recovery.kind === "recover" ? unarrived(history, endpointId, recovery) : everything(history, endpointId, recovery);

/** The ids of the window that are still to be looked at. It ends before the ids of what the recovery itself makes. */
const rangeOf = ({ since, until, requested_at, after }: RecoveryRow): HistoryRange => {
  const end = Math.min(until.getTime() + 1, requested_at.getTime());
  return {
    above: after ?? beforeIdsOf("webhookDelivery", since),
    below: beforeIdsOf("webhookDelivery", new Date(end)),
  };
};

const isTest = ({ event_type: kind }: WebhookDeliveryRow): boolean => kind === "webhook.test";

const unarrived = async (history: WebhookRecovery, endpointId: string, recovery: RecoveryRow): Promise<Page> => {
  const range = { ...rangeOf(recovery), limit: pageRows };
  const failed = await history.oldestIds(endpointId, "failed", range);
  const dead = await history.oldest(endpointId, { status: "dead", eventType: null }, range); // afterwards: one may die meanwhile
  const end = endOf([dead.map(({ _id }) => _id), failed]);
  const met = dead.filter((row) => isWithin(row._id, end) && !isTest(row));
  return {
    deliveries: await wanted(history, recovery, met),
    retried: failed.filter((id) => isWithin(id, end)),
    end,
  };
};

/** Dead deliveries whose events have neither arrived by another delivery nor are on their way by one. */
const wanted = async (
  history: WebhookRecovery,
  recovery: RecoveryRow,
  dead: readonly WebhookDeliveryRow[],
): Promise<WebhookDeliveryRow[]> => {
  const [first] = dead;
  if (first === undefined) return [];
  const originals = dead.flatMap((row) => (row.replay_of === null ? [] : originalId(row)));
  const [arrived, replays] = await Promise.all([
    history.arrived(originals),
    history.liveReplays(
      first.endpoint_id,
      dead.map(({ event_id }) => event_id),
    ),
  ]);
  const byEvent = Map.groupBy(replays, ({ event_id }) => event_id);
  const seen = new Set<string>();
  return dead.filter((row) => {
    const own = replayId(recovery, row);
    const isDone = (byEvent.get(row.event_id) ?? []).some(({ _id, replay_of }) => _id !== own || replay_of !== row._id);
    const isWanted = !seen.has(own) && !isDone && !arrived.has(originalId(row));
    if (isWanted) seen.add(own);
    return isWanted;
  });
};

/** Id of the first delivery of an event, which follows from the event. */
const originalId = ({ endpoint_id, event_id, payload }: WebhookDeliveryRow): string => {
  const { timestamp } = JSON.parse(payload) as { timestamp: string }; // sound: our own text of an envelope
  return derivedIdAt("webhookDelivery", new Date(timestamp), endpoint_id, event_id);
};

const ended = ["failed", "dead", "success"] as const; // in the order in which they move

/** Every delivery that fits and has been tried, except tests; each status is read by itself, as the index has it. */
const everything = async (history: WebhookRecovery, endpointId: string, recovery: RecoveryRow): Promise<Page> => {
  const range = { ...rangeOf(recovery), limit: pageRows };
  const statuses = recovery.status === null ? ended : [recovery.status];
  const pages: WebhookDeliveryRow[][] = [];
  for (const status of statuses) {
    pages.push(await history.oldest(endpointId, { status, eventType: recovery.event_type }, range));
  }
  const end = endOf(pages.map((page) => page.map(({ _id }) => _id)));
  const rows = new Map(pages.flat().map((row) => [row._id, row])); // one that moved meanwhile was read twice
  return { deliveries: [...rows.values()].filter((row) => isWithin(row._id, end) && !isTest(row)), retried: [], end };
};

/** Where a page that is read in parts ends: at the lowest last id of a full part, as that part may go on behind it. */
const endOf = (parts: readonly (readonly string[])[]): string | null => {
  const full = parts.filter((part) => part.length === pageRows);
  return full.flatMap((part) => part.at(-1) ?? []).sort()[0] ?? null;
};

const isWithin = (id: string, end: string | null): boolean => end === null || id <= end;
