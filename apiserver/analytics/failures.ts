import { adviceOn } from "#core/domain/analytics/advice.ts";
import type { Failure, QuarterCounts } from "#core/domain/analytics/quarters.ts";
import { Failures, type FailuresQuery } from "#core/schema/analytics/deliveries.ts";
import { showAs } from "#core/schema/json/show.ts";
import { type AnswersDeps, answering } from "./answers.ts";
import { type CountsDeps, rangeMembers, readCounts } from "./counts.ts";

/** Why deliveries did not arrive. Source: docs/reference/analytics.md#failures. */
export const failures = (deps: CountsDeps & AnswersDeps) =>
  answering<FailuresQuery, Failures>(deps, "quarter", async (app, question) => {
    const { from, to } = question.asked.range;
    const { channel, group_by: grouping = "error_code" } = question.query;
    const isAsked = (one: Pick<Failure, "channel">): boolean => channel?.includes(one.channel) ?? true;
    const [failed, suppressed] = [new Map<string, Failed>(), new Map<string, number>()];
    const add = (_: number, counts: QuarterCounts, by: 1 | -1): void => {
      for (const one of counts.failures.filter(isAsked)) addFailure(failed, keyOf(one, grouping), one, by);
      for (const { reason, count } of counts.suppressed.filter(isAsked))
        suppressed.set(reason, (suppressed.get(reason) ?? 0) + by * count);
    };
    const [members] = await Promise.all([rangeMembers(deps, app, question), readCounts(deps, app, [from, to], add)]);
    const found = [...failed.values()].filter(({ count }) => count > 0);
    const all = found.reduce((sum, { count }) => sum + count, 0);
    return showAs(Failures, {
      ...members,
      data: found
        .map((one) => ({
          ...one,
          last_at: one.last_at.toISOString(),
          share: one.count / all,
          ...advised(one.key, grouping),
        }))
        .sort((a, b) => b.count - a.count || (a.key + a.channel < b.key + b.channel ? -1 : 1)),
      suppressed: [...suppressed]
        .flatMap(([reason, count]) => (count > 0 ? [{ reason, count }] : []))
        .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1)),
    });
  });

type Failed = Pick<Failure, "channel" | "count" | "last_at"> & { key: string; sample_message: string };

const keyOf = (one: Failure, grouping: "error_code" | "provider"): string => one[grouping] ?? "none";

const addFailure = (all: Map<string, Failed>, key: string, one: Failure, by: 1 | -1): void => {
  const { channel, count, last_at, message_id: sample_message } = one;
  const known = all.get(`${key} ${channel}`) ?? { key, channel, count: 0, last_at, sample_message };
  const isLater = by > 0 && last_at > known.last_at;
  all.set(`${key} ${channel}`, {
    ...(isLater ? { ...known, last_at, sample_message } : known),
    count: known.count + by * count,
  });
};

const advised = (key: string, grouping: "error_code" | "provider") => {
  const known = grouping === "error_code" ? adviceOn(key) : null;
  return { retryable: known?.isRetryable ?? null, advice: known?.advice ?? null };
};
