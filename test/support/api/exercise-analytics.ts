import { until } from "../until.ts";
import type { Ask } from "./exercise.ts";

/** Asks everything that analytics answers, of an app that has events of this name. */
export const useAnalytics = async (ask: Ask, analytics: string, event: string): Promise<void> => {
  const { data } = await ask("GET", `${analytics}/messages?limit=1`);
  const [{ key = "" } = {}] = data as { key?: string }[]; // sound: a page of messages
  const questions = [
    `outcomes?name=${event}&compare=previous_period`,
    `outcomes?name=${event}&attribution=unattributed&compare=previous_period`,
    `outcomes?name=${event}&aggregation=unique_users`,
    `outcomes?name=${event}&aggregation=unique_users&attribution=direct`,
    "overview?compare=previous_period",
    "overview?label=spring",
    "timeseries?metric=sent,open_rate&group_by=channel&timezone=Asia/Kolkata",
    "timeseries?metric=targeted&group_by=status",
    "channels",
    "failures",
    "messages?sort=-open_rate",
    `messages/${key}`,
    "messages?group_by=campaign_id",
    "audience?group_by=language",
    "retention",
    `retention?return=${event}`,
    `retention?cohort=${event}&return=${event}`,
    `retention?steps=${event},${event}`,
  ];
  const hourMs = 3_600_000;
  const now = Math.ceil(Date.now() / hourMs) * hourMs;
  await ask("POST", `${analytics}/recount`, { from: iso(now - 24 * hourMs), to: iso(now) });
  for (const question of questions) await until(() => isAnswered(ask, `${analytics}/${question}`));
};

const iso = (ms: number): string => new Date(ms).toISOString();

/** An app may ask five times a second: false when that is too often. */
const isAnswered = async (ask: Ask, path: string): Promise<boolean> => {
  try {
    await ask("GET", path);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes(": 429 ")) return false;
    throw error;
  }
};
