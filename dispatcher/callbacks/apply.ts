import type { Clock } from "#core/domain/clock.ts";
import { countsBetween, progressed } from "#core/domain/messages/progress.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { isAhead, waitsForResend } from "#core/domain/messages/resends.ts";
import { Unavailable } from "#core/errors.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import type { Counts } from "#core/schema/messages/message.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Added, Move } from "#core/storage/messages/receipts.ts";
import type { TellFailed } from "../conversations/failed.ts";
import type { About } from "../suppressions/causes.ts";
import type { Cause } from "../suppressions/suppress.ts";
import { eventsOf } from "./events.ts";

/** Receipts of one app that came in one message of the queue. */
export type Report = {
  tenantId: string;
  appId: string;
  receipts: readonly Receipt[];
  /** Whether they may have been applied in part before. */
  isRepeated: boolean;
};

export type ApplyDeps = {
  receipts: {
    find: (deliveryIds: readonly string[]) => Promise<DeliveryRow[]>;
    /** What all conversions come to that count for some of these deliveries, in millionths, as it is stored after these were read. */
    valuesOf: (deliveries: readonly DeliveryRow[]) => Promise<ReadonlyMap<string, number>>;
    /** False when some had changed since they were read. */
    move: (moves: readonly Move[], now: Date) => Promise<boolean>;
    count: (changes: ReadonlyMap<string, Added>, now: Date) => Promise<void>;
    /** Has counters made anew by the quarters in which these deliveries were made. */
    touch: (deliveries: readonly DeliveryRow[]) => Promise<void>;
    recount: (messageIds: readonly string[], now: Date) => Promise<void>;
  };
  causesOf: (all: readonly About[], now: Date) => Promise<Cause[]>;
  suppress: (causes: readonly Cause[]) => Promise<void>;
  /** Closes the sessions of deliveries that the provider refused because there was none. */
  closeSessions: (deliveries: readonly DeliveryRow[]) => Promise<void>;
  /** The events of replies in conversations that failed. */
  repliesFailed: TellFailed;
  /** Has deliveries sent again that failed for now. May be done twice. */
  resend: (waiting: readonly DeliveryRow[]) => Promise<void>;
  events: Pick<EventPublisher, "publish">;
  clock: Clock;
};

const attempts = 5; // each lost to another process that moved one of the deliveries

/**
 * Applies receipts: moves deliveries, counts, suppresses and tells. Gives those whose delivery, or attempt of it, is not
 * stored yet, for each report. May be done twice with the same reports: then it changes nothing more.
 * @throws Unavailable when not all could be told: apply them again
 */
export const applyReceipts =
  (deps: ApplyDeps) =>
  async (reports: readonly Report[]): Promise<Receipt[][]> => {
    const now = deps.clock.now();
    const wanted = [
      ...new Set(reports.flatMap(({ receipts }) => receipts.flatMap(({ deliveryId }) => deliveryId ?? []))),
    ];
    const byId = new Map(await moveAll(deps, reports, wanted, now));
    const all = reports.flatMap((report) =>
      report.receipts.flatMap((receipt): About[] => {
        const row = rowOf(byId, report, receipt);
        return row === undefined ? [] : [{ row, receipt }];
      }),
    );
    await deps.resend([...byId.values()].filter(waitsForResend));
    await deps.suppress(await deps.causesOf(all, now));
    await deps.closeSessions(all.map(({ row }) => row));
    await tell(deps, all);
    return reports.map((report) =>
      report.receipts.filter((one) => one.deliveryId !== null && rowOf(byId, report, one) === undefined),
    );
  };

/** Another app's delivery is none, and one whose next attempt is not stored yet is not there for what is said of that. */
const rowOf = (
  byId: ReadonlyMap<string, DeliveryRow>,
  { appId }: Pick<Report, "appId">,
  receipt: Receipt,
): DeliveryRow | undefined => {
  const row = byId.get(receipt.deliveryId ?? "");
  return row?.app_id === appId && !isAhead(row, receipt) ? row : undefined;
};

type Rows = [id: string, row: DeliveryRow][];

/** Moves deliveries, and gives them as they are then. */
const moveAll = async (
  deps: ApplyDeps,
  reports: readonly Report[],
  ids: readonly string[],
  now: Date,
): Promise<Rows> => {
  let unsure = reports.some(({ isRepeated }) => isRepeated);
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const rows = await deps.receipts.find(ids);
    const moves = await movesOf(deps, rows, reports, now);
    const moved = moves.filter(isChange);
    const areAll = await deps.receipts.move(moved, now);
    unsure ||= !areAll; // nobody knows which of them are ours to count
    if (areAll && moved.length > 0)
      await Promise.all([
        deps.receipts.count(countsOf(moved), now),
        unsure || deps.receipts.touch(moved.map(({ before }) => before)),
      ]);
    if (areAll && unsure) await deps.receipts.touch(rows);
    const again = unsure ? rows : moved.flatMap(({ before }) => (isCountedApart(before) ? [before] : []));
    if (areAll && again.length > 0) await deps.receipts.recount([...new Set(again.map((row) => row.message_id))], now);
    if (areAll) return moves.map(({ before, after }) => [before._id, { ...before, ...after }]);
  }
  throw new Unavailable("deliveries that others move all the time");
};

/** It counts in more than the counters of its message and variant. */
const isCountedApart = ({ timing }: DeliveryRow): boolean => timing !== undefined;

const movesOf = async (
  { receipts: { valuesOf } }: Pick<ApplyDeps, "receipts">,
  rows: readonly DeliveryRow[],
  reports: readonly Report[],
  now: Date,
): Promise<Move[]> => {
  const byDelivery = Map.groupBy(
    reports.flatMap(({ appId, receipts }) => receipts.map((receipt) => ({ appId, receipt }))),
    ({ receipt }) => receipt.deliveryId,
  );
  const all = rows.map((before) => {
    const ofApp = (byDelivery.get(before._id) ?? []).filter(({ appId }) => appId === before.app_id);
    return { before, own: ofApp.map(({ receipt }) => receipt).filter((receipt) => !isAhead(before, receipt)) };
  });
  const converted = all.filter(({ own }) => own.some(({ kind }) => kind === "converted"));
  const values = converted.length === 0 ? none : await valuesOf(converted.map(({ before }) => before));
  return all.map(({ before, own }) => {
    const value = values.get(before._id);
    const after = own.length === 0 ? before : progressed(before, own, now);
    return { before, after: value === undefined ? after : { ...after, conversion_value: value } };
  });
};

const none: ReadonlyMap<string, number> = new Map();

const isChange = ({ before, after }: Move): boolean =>
  Object.keys({ ...before, ...after }).some((name) => Reflect.get(before, name) !== Reflect.get(after, name));

const countsOf = (moves: readonly Move[]): Map<string, Added> => {
  const byMessage = Map.groupBy(moves, ({ before }) => before.message_id);
  const added = [...byMessage].map(([id, of]): [string, Added] => {
    const ofVariants = of.filter(({ before }) => before.variant_id !== undefined);
    const byVariant = Map.groupBy(ofVariants, ({ before }) => before.variant_id ?? "");
    const sums = [...byVariant].map(([variant, some]) => [variant, summed(some)] as const);
    return [id, { counts: summed(of), ofVariants: Object.fromEntries(sums) }];
  });
  return new Map(added.filter(([, { counts, ofVariants }]) => [counts, ...Object.values(ofVariants)].some(isMoved)));
};

const summed = (moves: readonly Move[]): Counts => {
  const sum: Record<string, number> = {};
  for (const { before, after } of moves)
    for (const [key, by] of Object.entries(countsBetween(before, after))) sum[key] = (sum[key] ?? 0) + by;
  return sum;
};

const isMoved = (counts: Counts): boolean => Object.values(counts).some((by) => by !== 0);

const tell = async ({ events, repliesFailed }: ApplyDeps, all: readonly About[]): Promise<void> => {
  for (const [tenantId, of] of Map.groupBy(all, ({ row }) => row.tenant_id)) {
    const failed = await repliesFailed(of.map(({ row }) => row));
    const made = new Map([...of.flatMap(eventsOf), ...failed].map((event) => [event.id, event]));
    if (made.size > 0 && !(await events.publish(tenantId, [...made.values()])))
      throw new Unavailable("the stream of events");
  }
};
