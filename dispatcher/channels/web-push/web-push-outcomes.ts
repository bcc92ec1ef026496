import type { Outcome } from "#core/domain/messages/outcome.ts";
import { meanings, type OutcomeTable, outcomeOf } from "../kit/outcomes.ts";

/** What a push service answered. */
export type PushServiceReply = { status: number; headers: Record<string, string | string[] | undefined>; body: string };

const { tokenGone, rejected, tooLarge, limited } = meanings;
const auth = { kind: "config_error", code: "PROVIDER_AUTH" } as const; // of this push service: others may take it
const fault = { kind: "retry_at", code: "PROVIDER_UNAVAILABLE", fault: "origin" } as const;
const tokenRefused = { ...auth, reason: "the push service refused the VAPID token" };

/** Answers whose words say more than their status, then every documented status. */
export const webPushTable: OutcomeTable = {
  sources: [
    "https://www.rfc-editor.org/rfc/rfc8030", // 5, 7.3 and 8.4
    "https://www.rfc-editor.org/rfc/rfc8292#section-4.2",
    "https://autopush.readthedocs.io/en/latest/http.html", // Firefox: "Error Codes"
    "https://developer.apple.com/documentation/usernotifications/sending-web-push-notifications-in-web-apps-and-browsers", // reasons
    "https://learn.microsoft.com/windows/apps/design/shell/tiles-and-notifications/push-request-response-headers", // 406: throttled
  ],
  rows: [
    {
      on: /^40[0-3]/,
      says: [/VapidPkHashMismatch|do not correspond to the credentials|UnauthorizedRegistration/i],
      kind: "config_error",
      code: "SENDER_MISMATCH",
      reason: "the subscription belongs to another VAPID key",
    },
    { on: /^40[0-3]/, says: [/BadJwtToken|BadAuthorizationHeader|ExpiredJwtToken/i], ...tokenRefused },
    { on: /^400/, ...rejected, reason: "the push service refused the request" },
    { on: /^401/, ...tokenRefused },
    { on: /^403/, ...auth, reason: "the push service refused the VAPID key" },
    { on: /^404/, ...tokenGone, reason: "the subscription does not exist" },
    { on: /^406/, ...limited, reason: "the push service throttles this channel" },
    { on: /^408/, ...fault, reason: "the push service timed out" },
    { on: /^410/, ...tokenGone, reason: "the subscription is gone" },
    { on: /^413/, ...tooLarge, reason: "the push service refused the size" },
    { on: /^429/, ...limited, reason: "the push service limits the rate" },
    { on: /^5/, ...fault, reason: "the push service has a fault" },
  ],
  otherwise: { ...rejected, reason: "the push service refused the push" },
  refused: "the push service refused the push",
};

/** What the reply of a push service means. */
export const webPushOutcome = ({ status, headers, body }: PushServiceReply, now: Date): Outcome => {
  if (status >= 200 && status < 300) return { kind: "sent", providerId: messageOf(headers["location"]) };
  const retryAfter = headers["retry-after"];
  const answer = { code: providerCode(status, body), text: body };
  return outcomeOf(webPushTable, typeof retryAfter === "string" ? { ...answer, retryAfter } : answer, now);
};

/** The last part of the message resource's address; the whole address would be a key to it. */
const messageOf = (location: string | string[] | undefined): string | null =>
  typeof location === "string" ? (location.split("/").at(-1)?.slice(0, 200) ?? null) : null;

/** The status, with the number (Mozilla) or the reason (Apple) of its body. */
const providerCode = (status: number, body: string): string => {
  const detail = /"errno"\s*:\s*(\d{1,6})/.exec(body)?.[1] ?? /"reason"\s*:\s*"([A-Za-z]{1,60})"/.exec(body)?.[1];
  return detail === undefined ? String(status) : `${status} ${detail}`;
};
