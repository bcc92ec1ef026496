import type { AudienceCounts, AudienceSpec } from "#core/domain/analytics/audience.ts";
import { Audience, type AudienceQuery } from "#core/schema/analytics/audience.ts";
import { showAs } from "#core/schema/json/show.ts";
import { channels } from "#core/schema/vocabulary/channels.ts";
import type { PeopleQuestion } from "#core/storage/analytics/people-reports.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Caller } from "../access/caller.ts";
import { type PeopleReportDeps, peopleReport } from "./people-report.ts";

/** Who is there, and who came and went. Source: docs/reference/analytics.md#audience. */
export const audience =
  (deps: PeopleReportDeps) =>
  async (caller: Pick<Caller, "plan">, app: AppRow, query: AudienceQuery): Promise<Audience> => {
    const { interval: unit = "day", group_by: grouping = null } = query;
    const { result, members } = await peopleReport(deps)(caller, { app, query }, async ({ range, timezone: zone }) => ({
      question: audienceQuestion({ range, zone, unit, grouping }),
    }));
    const counts = result !== null && "audience" in result ? result.audience : null;
    return showAs(Audience, {
      ...members,
      current: counts && currentOf(counts),
      groups: counts && counts.groups,
      series: counts && seriesOf(counts),
    });
  };

/** What a job is asked; the same members in the same order make the same question. */
export const audienceQuestion = ({ range, zone, unit, grouping }: AudienceSpec): PeopleQuestion => ({
  kind: "audience",
  range,
  zone,
  unit,
  grouping,
});

/** A former release has counted without some members. */
type Without<T, Name extends keyof T> = Omit<T, Name> & Partial<Pick<T, Name>>;
type KeptCounts = Without<AudienceCounts, "active">;
type KeptPoint = Without<AudienceCounts["series"][number], "invalidated" | "reactivated">;

const none = { subscriptions: 0, subscribed: 0, unsubscribed: 0, invalid: 0 };

const currentOf = ({ users, active, by_channel: found }: KeptCounts) => {
  const by_channel = channels.map((channel) => found.find((one) => one.channel === channel) ?? { channel, ...none });
  const sum = (name: keyof typeof none): number => by_channel.reduce((all, one) => all + one[name], 0);
  return {
    users,
    active_users: active ?? null,
    subscriptions: sum("subscriptions"),
    subscribed: sum("subscribed"),
    unsubscribed: sum("unsubscribed"),
    invalid: sum("invalid"),
    by_channel,
  };
};

const seriesOf = ({ series }: { series: readonly KeptPoint[] }) =>
  series.map(({ at, invalidated = 0, reactivated = 0, ...counts }) => ({
    at: at.toISOString(),
    ...counts,
    invalidated,
    reactivated,
    net: counts.new_subscriptions - counts.unsubscribed - invalidated,
  }));
