import type { Receipt } from "./receipts.ts";

/** How often a delivery is sent again that its provider took, and that a receipt says failed for now. */
export const mostResends = 3;

/** Pauses before each: 10 min, 1 h, 6 h. A phone that is switched off, or a carrier that is away, takes as long. */
const pauseMs = { first: 600_000, factor: 6 };

/** What of a delivery says whether it is sent again, and which attempts it had. */
type Attempts = {
  status: string;
  resend_until?: Date;
  provider_message_id?: string;
  earlier_message_ids?: readonly string[];
};

/** Whether a delivery waits to be sent again. */
export const waitsForResend = ({ status, resend_until: until }: Attempts): boolean =>
  status === "scheduled" && until !== undefined;

/** When it is sent again; null when there is no time left, or it was often enough. */
export const resendAt = (
  { resend_until: until, earlier_message_ids: earlier = [] }: Pick<Attempts, "resend_until" | "earlier_message_ids">,
  now: Date,
): Date | null => {
  const at = new Date(now.getTime() + pauseMs.first * pauseMs.factor ** earlier.length);
  return until !== undefined && at < until && earlier.length < mostResends ? at : null;
};

/** Whether a receipt is of an attempt that another has followed. */
export const isOfEarlier = ({ earlier_message_ids: earlier = [] }: Attempts, { providerId }: Receipt): boolean =>
  providerId !== null && earlier.includes(providerId);

/** Whether a receipt is of an attempt whose own answer is not stored yet. */
export const isAhead = (delivery: Attempts, receipt: Receipt): boolean => {
  const { providerId, attempt } = receipt;
  const isOther = providerId !== null && providerId !== delivery.provider_message_id;
  return waitsForResend(delivery) && attempt === undefined && isOther && !isOfEarlier(delivery, receipt);
};
