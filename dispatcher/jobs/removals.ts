import type { Clock } from "#core/domain/clock.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Apps } from "#core/storage/apps/apps.ts";
import type { StoredData } from "#core/storage/data.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { RemovalRow, Removals } from "#core/storage/work/removals.ts";

export type RemoveDeps = {
  removals: Pick<Removals, "take" | "extend" | "rest" | "end">;
  subscriptions: Pick<Subscriptions, "remove">;
  /** Whether an app is really gone. */
  apps: Pick<Apps, "find">;
  data: StoredData;
  /** Publishes the events of a removal; false when that must wait. */
  flush: (row: RemovalRow) => Promise<boolean>;
  /** How long an app is removed at a time; 20 s when left out. */
  turnMs?: number;
  /** Unique to this process. */
  holder: string;
  clock: Clock;
  log: Log;
};

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/**
 * When the history is gone through, after the removal: at once, and again for events that were still on their way, or
 * were being sent at that moment.
 */
const passesAfterMs: Record<RemovalRow["kind"], readonly number[]> = {
  user: [0, minuteMs, hourMs, dayMs],
  app: [0, minuteMs, hourMs],
  subscription: [0],
};

const leaseMs = 600_000; // longer than a pass takes
const soonMs = 10_000; // until JetStream, or an app's document, is asked again
const keptMs = hourMs; // the operator asks anew, more often than that, for as long as the app is to go

/** Does what is due of a removal, and says when more is. Safe to run twice, and to be killed. */
export const finishRemoval =
  (deps: RemoveDeps) =>
  async (id: string, signal?: AbortSignal): Promise<void> => {
    const now = deps.clock.now();
    const row = await deps.removals.take(id, { holder: deps.holder, now, leaseMs });
    if (row === null) return;
    const turn = row.kind === "app" ? AbortSignal.timeout(deps.turnMs ?? turnMs) : undefined;
    const halt = [signal, turn].filter((one) => one !== undefined);
    try {
      if (await isThere(deps, row)) await askAgain(deps, row);
      else await settle(deps, row, await pass(deps, row, AbortSignal.any(halt)));
    } catch (error) {
      const isHalted = halt.some(({ aborted }) => aborted);
      const inMs = isHalted ? 0 : soonMs;
      await deps.removals.rest(row, new Date(deps.clock.now().getTime() + inMs)).catch(() => undefined); // else it waits for the lease's end
      if (!isHalted) throw error;
    }
  };

/** An app is removed for so long at a time, because other removals wait. What is gone by then stays gone. */
const turnMs = 20_000;

/** An app's data goes after its document: until then somebody may still decide to keep it. */
const isThere = async ({ apps }: RemoveDeps, { kind, _id }: RemovalRow): Promise<boolean> =>
  kind === "app" && (await apps.find(_id)) !== null;

/** The app is about to go, or was kept after all: nothing of it is removed now. */
const askAgain = async ({ removals, clock, log }: RemoveDeps, row: RemovalRow): Promise<void> => {
  const now = clock.now().getTime();
  if (now - row.removed_at.getTime() < keptMs) return void (await removals.rest(row, new Date(now + soonMs)));
  log.info({ app: row.app_id }, "removal.dropped");
  await removals.end(row);
};

type Passed = { isPublished: boolean; waiting: number };

const pass = async (deps: RemoveDeps, row: RemovalRow, signal: AbortSignal): Promise<Passed> => {
  await removeRest(deps, row);
  const [published] = await Promise.allSettled([deps.flush(row)]);
  const waiting = await forget(deps, row, signal); // also when its events cannot be published
  if (published.status === "rejected") throw published.reason;
  const isPublished = published.value;
  deps.log.info({ app: row.app_id, removed: row._id, pass: row.passes, waiting, isPublished }, "removal.passed");
  return { isPublished, waiting };
};

/** Removes what a kill left, and what was registered meanwhile. */
const removeRest = async (
  { subscriptions, data }: RemoveDeps,
  { kind, _id, tenant_id, app_id }: RemovalRow,
): Promise<void> => {
  if (kind === "subscription") await subscriptions.remove(tenant_id, _id);
  if (kind === "user") await data.removePerson({ tenantId: tenant_id, appId: app_id, userId: _id });
};

/** How many deliveries, or messages of an app, must wait for a later pass. */
const forget = async ({ data, clock }: RemoveDeps, row: RemovalRow, signal: AbortSignal): Promise<number> => {
  if (row.kind === "app") return data.removeApp(row.app_id, clock.now(), () => signal.throwIfAborted());
  if (row.kind !== "user") return 0;
  const { tenant_id: tenantId, app_id: appId, _id: userId, removed_at: at, passes } = row;
  const person = { tenantId, appId, userId, keys: new Set(row.keys), at, isLast: passes > 0 };
  return data.erasePerson(person, () => signal.throwIfAborted());
};

const settle = async ({ removals, clock }: RemoveDeps, row: RemovalRow, passed: Passed): Promise<void> => {
  const now = clock.now().getTime();
  if (!passed.isPublished) return void (await removals.rest(row, new Date(now + soonMs)));
  const passes = row.passes + 1;
  const afterMs = passesAfterMs[row.kind][passes];
  if (afterMs !== undefined) {
    const at = new Date(Math.max(row.removed_at.getTime() + afterMs, now + minuteMs));
    return void (await removals.rest({ ...row, passes }, at));
  }
  // A delivery that waits ends some day, or is removed with the history of 30 days.
  if (passed.waiting > 0) return void (await removals.rest({ ...row, passes }, new Date(now + dayMs)));
  await removals.end(row);
};
