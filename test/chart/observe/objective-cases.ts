import { type AlertCase, all, type History } from "./histories.ts";

/** Requests of which so many of a thousand a minute are answered 5xx. */
const answered = (bad: number): History => ({
  [all("herald_http_requests_total", 'route="/v1/apps",method="GET",status="503"')]: `0+${bad}x400`,
  [all("herald_http_requests_total", 'route="/v1/apps",method="GET",status="200"')]: `0+${1000 - bad}x400`,
});

/** A histogram of which so many of a thousand a minute are above a bound. */
const above =
  (metric: string, le: string, labels = "") =>
  (late: number): History => ({
    [all(`${metric}_bucket`, `${labels && `${labels},`}le="${le}"`)]: `0+${1000 - late}x400`,
    [all(`${metric}_count`, labels)]: "0+1000x400",
  });

/** Of a budget of so many in a thousand: a fast burn is 14.4 times that in an hour, a slow one 3 times that in two. */
const burns = (name: string, budget: number, history: (bad: number) => History): Record<string, AlertCase> => ({
  [`${name}BurnsFast`]: { at: "90m", fires: history(20 * budget), rests: history(5 * budget) },
  [`${name}BurnsSlowly`]: { at: "380m", fires: history(4 * budget), rests: history(budget / 2) },
});

const files = { ...above("herald_http_request_duration_seconds", "1.0", 'route="/v1/apps/{appId}/imports"')(900) };
const slow = above("herald_http_request_duration_seconds", "1.0", 'route="/v1/apps"');

export const objectiveCases: Record<string, AlertCase> = {
  ...burns("HeraldApiBudget", 1, answered),
  ...burns("HeraldApiLatencyBudget", 10, (bad) => ({ ...slow(bad), ...files })), // transfers of files do not count
  ...burns("HeraldSentLateBudget", 10, above("herald_message_first_sent_seconds", "5")),
  ...burns("HeraldWebhooksLateBudget", 10, above("herald_webhook_queue_seconds", "5")),
  HeraldSpansLost: {
    at: "40m",
    fires: { [all("herald_spans_total", 'program="apiserver",outcome="failed"')]: "0+1x60" },
    rests: { [all("herald_spans_total", 'program="apiserver",outcome="exported"')]: "0+1x60" },
  },
};
