import { disabledAt, disabledReasons, type WebhookNotice } from "#core/domain/webhooks/health.ts";
import type { WebhookErrorClass } from "#core/schema/vocabulary/webhook-errors.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";

export type OwnerMailFacts = {
  row: WebhookRow;
  notice: WebhookNotice;
  app: string;
  errorClass: WebhookErrorClass | null;
};

/** The mail to an owner: what fails, since when and why, what comes next, what to do. It names no more than an address's host. */
export const ownerMailText = (facts: OwnerMailFacts): { subject: string; text: string } => ({
  subject: `${subjects[facts.notice]}: ${nameOf(facts.row)} (${facts.app})`,
  text: [happened(facts), reason(facts), next(facts), remedy(facts)].flat().join("\n\n").concat("\n"),
});

const subjects: Record<WebhookNotice, string> = {
  failing: "Webhook is failing",
  week: "Webhook has been failing for a week",
  disabled: "Webhook was disabled",
};

/** Its description on one line, or where it leads. */
const nameOf = ({ description, url }: WebhookRow): string =>
  description
    ?.replaceAll(/\p{C}+/gu, " ")
    .trim()
    .slice(0, 80) ||
  (URL.parse(url)?.host ?? "endpoint");

const happened = ({ row, notice, app }: OwnerMailFacts): string => {
  const host = URL.parse(row.url)?.host ?? "an unknown host";
  const which = `The webhook endpoint "${nameOf(row)}" (${row._id}, at ${host}) of your app ${app}`;
  if (notice !== "disabled") return `${which} has been failing since ${instant(row.failing_since)}.`;
  return row.disabled_reason === disabledReasons.gone
    ? `${which} answered 410 Gone, so it was disabled.`
    : `${which} has been failing since ${instant(row.failing_since)}, for 14 days, so it was disabled.`;
};

const reason = ({ row, errorClass }: OwnerMailFacts): string[] => {
  if (row.disabled_reason === disabledReasons.gone) return [];
  const count = `${row.failure_count} ${row.failure_count === 1 ? "request has" : "requests in a row have"} failed`;
  const last =
    row.last_success_at === null
      ? "none has ever succeeded"
      : `the last success was at ${instant(row.last_success_at)}`;
  return [
    `${count}; ${last}.${errorClass === null ? "" : ` The last failure: ${explanations[errorClass]} (${errorClass}).`}`,
  ];
};

const next = ({ row, notice }: OwnerMailFacts): string =>
  notice === "disabled"
    ? "No event is sent to it any more, and what was waiting for it was given up. Deliveries are kept for 30 days."
    : `We go on trying. The first request that succeeds ends this state. Unless one does, the endpoint is disabled at ${instant(disabledAt(row))}.`;

const remedy = ({ row, notice }: OwnerMailFacts): string => {
  const path = `/v1/apps/${row.app_id}/webhooks/${row._id}`;
  const inspect = `To see what was answered: GET ${path}/deliveries. To try it: POST ${path}/test.`;
  const enable =
    row.managed === null
      ? `PATCH ${path} with {"status":"active"}`
      : "set the annotation herald.dev/enable of its Webhook resource to a new value";
  const recover = `POST ${path}/recover with {"since":"${(row.failing_since ?? row.updated_at).toISOString()}"}`;
  return notice === "disabled"
    ? `${inspect}\nTo enable it again: ${enable}.\nTo have what it missed sent again: ${recover}.`
    : `${inspect}\nOnce it works again, what was given up meanwhile is sent again by ${recover}.`;
};

const instant = (at: Date | null): string =>
  at === null ? "an unknown time" : `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;

const explanations: Record<WebhookErrorClass, string> = {
  address_refused: "its address is not one that may be called",
  dns: "its name could not be resolved",
  connect: "nobody accepted the connection",
  connect_timeout: "the connection was not accepted in time",
  tls: "its certificate or TLS handshake failed",
  reset: "the connection was closed before an answer",
  timeout: "there was no whole answer in time",
  bad_reply: "its answer was no valid HTTP",
  redirect: "it answered with a redirect, which is never followed",
  client_error: "it refused the request (4xx)",
  gone: "it answered 410 Gone",
  throttled: "it asked for fewer requests (429)",
  server_error: "it failed itself (5xx)",
  template: "its body template could not be rendered",
  configuration: "its url, headers or secret cannot be used",
};
