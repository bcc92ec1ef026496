import { dayMs } from "#core/domain/durations.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { firstDay, monthOf, type Pending, type Reserved, type Usage } from "#core/storage/messages/usage.ts";
import type { Caller } from "../access/caller.ts";
import { quotaExceeded } from "./quota-exceeded.ts";

export type Quota = ReturnType<typeof quota>;

export type QuotaDeps = {
  usage: Pick<Usage, "reserve" | "confirm" | "withdraw" | "find">;
  /** Which of these messages of a tenant are stored. */
  stored: (tenantId: string, ids: readonly string[]) => Promise<Set<string>>;
  /** Deliveries of an organisation in its first 24 hours; 0 = no such cap. */
  firstDayMessages: number;
};

/** A message that is about to be stored, and the deliveries it needs. */
export type QuotaRequest = { id: string; count: number };

/** What a message has reserved. */
type Reserving = Pick<MessageRow, "tenant_id" | "_id" | "reserved">;

type Limit = { period: string; metric: "messages_per_month" | "messages_per_day"; limit: number; resetsAt: Date };

/**
 * Deliveries that are allowed, reserved at accept and settled when the message completes: a message is refused whole or
 * sent whole. Without a limit nothing is written. Source: docs/reference/limits.md#message-quota.
 *
 * What is reserved for a message is pending until the message is stored. Whoever cannot know whether it was, because
 * MongoDB or the program went away at that moment, leaves it: it is looked at before anybody is refused for it.
 */
export const quota = (deps: QuotaDeps) => {
  const { usage, firstDayMessages } = deps;

  const take = async (
    tenantId: string,
    wanted: QuotaRequest,
    { period, limit, metric, resetsAt }: Limit,
    now: Date,
  ): Promise<void> => {
    const reservation = { tenantId, period, messageId: wanted.id, count: wanted.count, limit, now };
    if (await usage.reserve(reservation)) return;
    const { messages: used, pending } = await usage.find(tenantId, period);
    const isOld = ({ at }: Pending): boolean => at.getTime() + underWayMs <= now.getTime();
    const isLess = await withdrawLost(deps, tenantId, period, pending.filter(isOld));
    const hasRoom = isLess || used + wanted.count <= limit; // others may have made it meanwhile
    if (hasRoom && (await usage.reserve(reservation))) return;
    throw quotaExceeded(`${metric} is exhausted`, {
      metric,
      limit,
      used,
      needed: wanted.count,
      resets: { at: resetsAt, now },
    });
  };

  const withdraw = async (tenantId: string, wanted: QuotaRequest, periods: readonly string[]): Promise<void> => {
    for (const period of periods) await usage.withdraw(tenantId, period, wanted);
  };

  return {
    /** What the message counts in; null when there is no limit. @throws AppError HS_QUOTA_EXCEEDED; then nothing is reserved */
    reserve: async (caller: Caller, wanted: QuotaRequest, now: Date): Promise<Reserved | null> => {
      const periods: string[] = [];
      for (const limit of limitsOf(caller, firstDayMessages, now)) {
        if (wanted.count > 0)
          await take(caller.tenant._id, wanted, limit, now).catch(async (error: unknown) => {
            await withdraw(caller.tenant._id, wanted, periods);
            throw error;
          });
        periods.push(limit.period);
      }
      return periods.length === 0 ? null : { periods, count: wanted.count };
    },

    /** Notes, without being waited for, that a message was stored. A note that is lost is made up for by {@link take}. */
    confirm: ({ tenant_id: tenantId, _id, reserved }: MessageRow): void => {
      if (reserved !== null) usage.confirm(tenantId, _id, reserved).catch(() => undefined);
    },

    /** Takes back what was reserved for a message that was not stored. */
    withdraw: async ({ tenant_id: tenantId, _id: id, reserved }: Reserving): Promise<void> => {
      if (reserved !== null) await withdraw(tenantId, { id, count: reserved.count }, reserved.periods);
    },
  };
};

/** What is used of each quota that limits a tenant now. */
export const quotaUses =
  ({ usage, firstDayMessages }: { usage: Pick<Usage, "find">; firstDayMessages: number }) =>
  (caller: Pick<Caller, "tenant" | "plan">, now: Date): Promise<(Limit & { used: number })[]> =>
    Promise.all(
      limitsOf(caller, firstDayMessages, now).map(async (limit) => {
        const { messages: used } = await usage.find(caller.tenant._id, limit.period);
        return { ...limit, used };
      }),
    );

const limitsOf = ({ tenant, plan }: Pick<Caller, "tenant" | "plan">, firstDayMessages: number, now: Date): Limit[] => {
  const { messages_per_month: ofMonth } = plan;
  const firstDayEnds = new Date(tenant.created_at.getTime() + dayMs);
  const month: Limit[] =
    ofMonth === null
      ? []
      : [{ period: monthOf(now), metric: "messages_per_month", limit: ofMonth, resetsAt: nextMonth(now) }];
  const day: Limit[] =
    now >= firstDayEnds || firstDayMessages === 0
      ? []
      : [{ period: firstDay, metric: "messages_per_day", limit: firstDayMessages, resetsAt: firstDayEnds }];
  return [...month, ...day];
};

/** When the calendar month is over, UTC. */
const nextMonth = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1));

const underWayMs = 90_000; // a message is stored, or never, by then: two attempts of 30 s (storage/mongo/connect.ts) at most

/** Withdraws what is pending for messages that were never stored, once. True when there was something. */
const withdrawLost = async (
  { usage, stored }: QuotaDeps,
  tenantId: string,
  period: string,
  pending: readonly Pending[],
): Promise<boolean> => {
  if (pending.length === 0) return false;
  const ids = pending.map(({ id }) => id);
  const there = await stored(tenantId, ids);
  await Promise.all([...there].map((id) => usage.confirm(tenantId, id, { periods: [period] })));
  const lost = pending.filter(({ id }) => !there.has(id));
  for (const one of lost) await usage.withdraw(tenantId, period, one);
  return lost.length > 0;
};
