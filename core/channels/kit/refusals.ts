import type { Fault } from "../../domain/messages/outcome.ts";
import { endOf, type ReceiptFact } from "../../domain/messages/receipts.ts";
import type { DeliveryErrorCode } from "../../schema/vocabulary/delivery-error-codes.ts";

/**
 * What a provider's error code means, whether it answers a send or comes in a receipt afterwards: one table for both.
 * - `token_invalid`: the number cannot be reached by this channel; with `isDoubtful` only when it is said on several
 *   days: until then this message alone has failed.
 * - `opted_out`: its owner wants nothing more; suppressed as `suppress`, else as what the carrier was told.
 * - `config_error`, `payload_error`: of the account; of this message. `retry_at`: it may work later.
 */
export type Refusing = {
  kind: "token_invalid" | "opted_out" | "config_error" | "payload_error" | "retry_at";
  code: DeliveryErrorCode;
  fault?: Fault;
  reason?: string;
  isDoubtful?: true;
  suppress?: "unsubscribe";
};

export type Refusals = Readonly<Record<string, Refusing>>;

/** The fact that a receipt with an error code tells. */
export const refusedFact = (refusals: Refusals, providerCode: string | null, provider: string): ReceiptFact => {
  const { kind, code, reason, isDoubtful, suppress } = refusals[providerCode ?? ""] ?? unknownRefusal;
  const why = { code: late[code] ?? code, providerCode, reason: reason ?? `${provider} could not deliver it` };
  switch (kind) {
    case "token_invalid":
      return { kind: "failed", ...why, suppress: "invalid_address", ...(isDoubtful && { isDoubtful }) };
    case "opted_out":
      return { kind: "failed", ...why, suppress: suppress ?? "carrier_opt_out" };
    case "config_error":
    case "payload_error":
      return { kind: endOf(code), ...why };
    case "retry_at":
      return { kind: endOf(code), ...why, isPassing: true };
  }
};

const unknownRefusal: Refusing = { kind: "payload_error", code: "PROVIDER_REJECTED" };

/** Codes of passing failures never stand in a delivery. Source: docs/reference/messages.md#error-codes. */
const late: Partial<Record<DeliveryErrorCode, DeliveryErrorCode>> = {
  PROVIDER_RATE_LIMITED: "PROVIDER_REJECTED",
  PROVIDER_UNAVAILABLE: "PROVIDER_REJECTED",
};
