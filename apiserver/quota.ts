import type { MessageRow } from "#core/storage/messages.ts";
import { firstDay, monthOf, type Usage } from "#core/storage/usage.ts";
import type { Caller } from "./caller.ts";
import { quotaExceeded } from "./quota-exceeded.ts";

export type Quota = ReturnType<typeof quota>;

export type QuotaDeps = {
  usage: Pick<Usage, "reserve" | "giveBack" | "used">;
  /** Deliveries of an organisation in its first 24 hours; 0 = no such cap. */
  firstDayMessages: number;
};

/**
 * Deliveries that a plan allows, promised at accept and settled when the message completes: a message is refused whole
 * or sent whole. Plans without a limit cost no write. Source: decisions 9.6.
 */
export const quota = ({ usage, firstDayMessages }: QuotaDeps) => {
  const take = async (
    tenantId: string,
    { period, count, limit, metric, resetsAt }: Share,
    now: Date,
  ): Promise<void> => {
    if (await usage.reserve({ tenantId, period, count, limit, now })) return;
    const used = await usage.used(tenantId, period);
    throw quotaExceeded(`${metric} is exhausted`, {
      metric,
      limit,
      used,
      needed: count,
      resets: { at: resetsAt, now },
    });
  };

  return {
    /** Null when the plan has no limit. @throws AppError HS_QUOTA_EXCEEDED */
    reserve: async ({ tenant, plan }: Caller, count: number, now: Date): Promise<MessageRow["reserved"]> => {
      if (plan.messages_per_month === null || count === 0) return null;
      const month = monthOf(now);
      const limit = plan.messages_per_month;
      const resetsAt = nextMonth(now);
      await take(tenant._id, { period: month, count, limit, metric: "messages_per_month", resetsAt }, now);
      const firstDayEnds = new Date(tenant.created_at.getTime() + 86_400_000);
      const isNew = now < firstDayEnds;
      if (isNew && firstDayMessages > 0) {
        const limits = { limit: firstDayMessages, metric: "messages_per_day", resetsAt: firstDayEnds };
        const day = { period: firstDay, count, ...limits };
        await take(tenant._id, day, now).catch(async (error: unknown) => {
          await usage.giveBack(tenant._id, month, count);
          throw error;
        });
      }
      return { month, count };
    },

    giveBack: async (tenantId: string, reserved: MessageRow["reserved"]): Promise<void> => {
      if (reserved !== null) await usage.giveBack(tenantId, reserved.month, reserved.count);
    },
  };
};

/** What is asked for of one period's limit. */
type Share = { period: string; count: number; limit: number; metric: string; resetsAt: Date };

/** When the calendar month is over, UTC. */
const nextMonth = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1));
