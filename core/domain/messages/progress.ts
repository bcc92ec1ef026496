import type { deliveryStatuses } from "../../schema/messages/delivery.ts";
import type { Counts } from "../../schema/messages/message.ts";
import type { DeliveryErrorCode } from "../../schema/vocabulary/delivery-error-codes.ts";
import type { Attempted, Receipt } from "./receipts.ts";
import { isOfEarlier, resendAt, waitsForResend } from "./resends.ts";
import { addTouch, judgePace, type Touched } from "./touches.ts";

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** How far a delivery got: its instants are the truth, and its status follows from them. */
export type Progress = Touched & {
  status: DeliveryStatus;
  error_code?: DeliveryErrorCode;
  error_message?: string;
  /** The provider's own code, as it came. */
  provider_code?: string;
  /** A mail server refused the mail: for good, or for as long as it was tried. */
  bounce_type?: "hard" | "soft";
  provider_message_id?: string;
  /** Of the attempts before the last one that its provider took; "" for one whose answer was lost. */
  earlier_message_ids?: readonly string[];
  /** Of one that its provider took: until then it may be sent again. Absent where no receipt asks for that. */
  resend_until?: Date;
  /** Of one that waits to be sent: when that is, or until then at the latest. */
  scheduled_for?: Date;
  /** Calls of the provider. */
  attempts?: number;
  /** The provider's answer was lost with its link: counted as sent, never repeated. */
  uncertain?: true;
  dismissed_at?: Date;
  /** Of the first custom event that counts for it. */
  converted_at?: Date;
  /** What all of these come to, in millionths: see core/domain/analytics/values.ts. Absent: not summed by a former release. */
  conversion_value?: number;
  failed_at?: Date;
  bounced_at?: Date;
  complained_at?: Date;
  unsubscribed_at?: Date;
};

/**
 * A delivery after some receipts: the same in whichever order they come, and however often. Of several receipts of one
 * kind the earliest counts. One that failed for now waits from `now` on to be sent again, unless it got further. What the
 * provider answered then is a receipt, too. Sources: docs/reference/messages.md#receipts, #resends.
 */
export const progressed = (before: Progress, receipts: readonly Receipt[], now: Date): Progress => {
  const next = { ...before };
  for (const receipt of receipts) if (!isOutdated(next, receipt)) fill(next, receipt, now);
  judgePace(next);
  next.status = statusOf(next);
  if (next.status !== "scheduled") delete next.scheduled_for;
  if (isReached(next.status)) {
    for (const member of refusalMembers) delete next[member];
    Object.assign(next, wayOf(before, receipts));
  }
  return next;
};

/** How a delivery went, where that was another way than its channel's own. */
const wayOf = (
  { error_code, provider_code }: Progress,
  receipts: readonly Receipt[],
): Pick<Progress, "provider_code"> => {
  const codes = receipts.flatMap((one) => (one.kind === "sent" || one.kind === "delivered" ? [one.providerCode] : []));
  const code = codes.find((one) => one !== undefined) ?? (error_code === undefined ? provider_code : undefined);
  return code === undefined ? {} : { provider_code: code };
};

/** An attempt that is known already; or what became of one that another has followed, unless that reached somebody. */
const isOutdated = (next: Progress, receipt: Receipt): boolean => {
  const { attempt, kind } = receipt;
  if (attempt !== undefined) return attempt.attempts <= (next.attempts ?? 0);
  return (kind === "sent" || kind === "failed" || kind === "errored") && isOfEarlier(next, receipt);
};

const fill = (next: Progress, receipt: Receipt, now: Date): void => {
  const { kind, at, providerId, attempt } = receipt;
  if (kind !== "converted") delete next.uncertain; // who reports about it has it
  if (attempt !== undefined) begin(next, attempt);
  if (providerId !== null && !isOfEarlier(next, receipt)) next.provider_message_id ??= providerId;
  if (receipt.kind === "opened" || receipt.kind === "clicked") return addTouch(next, receipt);
  const first = next[instants[kind]];
  const isGivenUp = isFailure(receipt) && receipt.isPassing !== true && waitsForResend(next);
  if (first !== undefined && first <= at && !isGivenUp) return;
  next[instants[kind]] = at;
  if (receipt.kind === "bounced") setRefusal(next, receipt, { bounce_type: receipt.type });
  if (isFailure(receipt)) fail(next, receipt, now);
};

type Failure = Extract<Receipt, { kind: "failed" | "errored" }>;
const isFailure = (receipt: Receipt): receipt is Failure => receipt.kind === "failed" || receipt.kind === "errored";

const fail = (next: Progress, receipt: Failure, now: Date): void => {
  if (!waits(next, receipt, now)) next.status = receipt.kind; // unless it got further
  if (next.bounced_at === undefined) setRefusal(next, receipt);
};

/** Has it wait to be sent again, where it may: unless it got further, or has failed before. */
const waits = (next: Progress, { isPassing }: Failure, now: Date): boolean => {
  const at = isPassing === true && next.status === "sent" ? resendAt(next, now) : null;
  if (at !== null) Object.assign(next, { status: "scheduled", scheduled_for: at } satisfies Partial<Progress>);
  return at !== null || (isPassing === true && waitsForResend(next));
};

/** Begins another attempt: what the one before came to is over. */
const begin = (next: Progress, attempt: Attempted): void => {
  next.earlier_message_ids = [...(next.earlier_message_ids ?? []), next.provider_message_id ?? ""];
  for (const member of ["provider_message_id", "failed_at", ...refusalMembers] as const) delete next[member];
  Object.assign(next, { ...attempt, status: "sent" satisfies DeliveryStatus });
};

/** Opens and clicks of programs are told, and not counted. */
export const isOfMachine = (receipt: Receipt): boolean => "machine" in receipt && receipt.machine;

/** Whether a receipt is the one of its kind that the delivery shows. */
export const isShown = (delivery: Progress, receipt: Receipt): boolean =>
  !isOfMachine(receipt) && delivery[instants[receipt.kind]]?.getTime() === receipt.at.getTime();

/** Where a delivery keeps the first receipt of a kind. */
const instants = {
  sent: "sent_at",
  delivered: "delivered_at",
  opened: "opened_at",
  clicked: "clicked_at",
  dismissed: "dismissed_at",
  converted: "converted_at",
  failed: "failed_at",
  errored: "failed_at",
  bounced: "bounced_at",
  complained: "complained_at",
  unsubscribed: "unsubscribed_at",
} as const satisfies Record<Receipt["kind"], keyof Progress>;

const refusalMembers = ["error_code", "error_message", "provider_code", "bounce_type"] as const;

const setRefusal = (
  next: Progress,
  { code, reason, providerCode }: Extract<Receipt, { kind: "failed" | "errored" | "bounced" }>,
  more: Pick<Progress, "bounce_type"> = {},
): void => {
  for (const member of refusalMembers) delete next[member];
  Object.assign(next, { error_code: code, error_message: reason, ...more });
  if (providerCode !== null) next.provider_code = providerCode;
};

/** What a delivery is by the furthest of its instants, the strongest first. */
const statuses = [
  ["complained", "complained_at"],
  ["unsubscribed", "unsubscribed_at"],
  ["clicked", "clicked_at"],
  ["opened", "opened_at"],
  ["bounced", "bounced_at"],
  ["delivered", "delivered_at"],
  ["delivered", "dismissed_at"],
] as const satisfies readonly (readonly [DeliveryStatus, keyof Progress])[];

/**
 * What it was before any of these stays: it is sent, or it ended without being sent. One of which all clicks turned out to be
 * by a program was sent.
 */
const statusOf = (delivery: Progress): DeliveryStatus => {
  const { status } = delivery;
  return (
    statuses.find(([, instant]) => delivery[instant] !== undefined)?.[0] ?? (status === "clicked" ? "sent" : status)
  );
};

/** Whether a delivery in this status was refused by nobody. */
const isReached = (status: DeliveryStatus): boolean =>
  ["sent", "delivered", "opened", "clicked", "complained", "unsubscribed"].includes(status);

/**
 * By which instants a delivery counts, for what providers and people report: any of them suffices, because a click implies
 * an open, and an open or a dismissal that it was delivered. Source: docs/reference/messages.md#counters.
 */
const clicked = ["clicked_at"] as const;
const opened = ["opened_at", ...clicked] as const;
const asked = ["complained_at", "unsubscribed_at"] as const;
const delivered = ["delivered_at", "dismissed_at", ...opened, ...asked] as const;
export const evidence = {
  sent: ["sent_at", "bounced_at", ...delivered],
  delivered,
  opened,
  clicked,
  converted: ["converted_at"],
  bounced: ["bounced_at"],
  complained: ["complained_at"],
  unsubscribed: ["unsubscribed_at"],
} as const satisfies Partial<Record<keyof Counts, readonly (keyof Progress)[]>>;

export type Reported = keyof typeof evidence;

/** How the counters of a message change when one of its deliveries becomes another. */
export const countsBetween = (before: Progress, after: Progress): Counts => {
  const counts: Counts = {};
  for (const key of countersOf(before)) counts[key] = (counts[key] ?? 0) - 1;
  for (const key of countersOf(after)) counts[key] = (counts[key] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).filter(([, by]) => by !== 0));
};

const countersOf = (delivery: Progress): (keyof Counts)[] => [
  ...reportedOf(delivery),
  ...(isEnd(delivery.status) ? [delivery.status] : []),
  ...(delivery.uncertain === true ? ["uncertain" as const] : []),
];

/** What a delivery counts as, by its instants. */
export const reportedOf = (delivery: Progress): Reported[] =>
  reportedKeys.filter((key) => evidence[key].some((member) => member in delivery));

const reportedKeys = Object.keys(evidence) as Reported[]; // sound: its keys

/** Statuses that are counters as well. */
export const isEnd = (status: DeliveryStatus): status is "failed" | "errored" | "expired" | "suppressed" =>
  status === "failed" || status === "errored" || status === "expired" || status === "suppressed";
