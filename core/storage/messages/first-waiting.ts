import type { DeliveryRow } from "./deliveries.ts";

/** A delivery that was never handed to a provider; one that is sent again waits, too. */
export const neverSent = { status: "scheduled" as const, resend_until: { $exists: false } };
export const waitsForFirst = ({ status, resend_until: until }: Pick<DeliveryRow, "status" | "resend_until">): boolean =>
  status === "scheduled" && until === undefined;
