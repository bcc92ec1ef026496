import type { DeliveryErrorCode } from "../../schema/vocabulary/delivery-error-codes.ts";

/**
 * What a provider, or a link in a message, says of one delivery. `at` is when it happened, not when it was said. A receipt
 * without our own id of the delivery is about nothing that we sent.
 */
export type Receipt = {
  deliveryId: string | null;
  /** The provider's id. */
  providerId: string | null;
  /** Whom the provider says that it went to, in the channel's own spelling. */
  address: string | null;
  at: Date;
  /** Of our own: what it says is the provider's answer to a further attempt. Source: docs/reference/messages.md#resends. */
  attempt?: Attempted;
} & ReceiptFact;

/** What a further attempt changes of a delivery, as it is stored. */
export type Attempted = { attempts: number; provider: string; address_masked: string | null; uncertain?: true };

/**
 * - `sent`: the provider passed it on. `delivered`: the device, or the recipient's server, has it.
 *   `providerCode` says how, where it went another way: `FALLBACK_SMS`.
 * - `opened`, `clicked`: by a program, such as a mail scanner, when `machine`: it is told and not counted.
 *   `said` is when a device whose clock is ahead says that it happened: by that it is told from others.
 * - `dismissed`: a device showed it, and its person swept it away.
 * - `converted`: a custom event counts for it; nobody reports it but us.
 * - `failed`: the recipient's side refused it for good; `errored`: credentials, set-up or content were refused.
 *   `suppress`: as what the address is suppressed; with `isDoubtful` only when it is said on several days. `isPassing`: it
 *   may work later, so that it is sent again while there is time.
 * - `bounced`: a mail server refused it; `hard`: the address takes no mail at all.
 * - `complained`: reported as unwanted. `unsubscribed`: by a link, a header or the provider's own page; from the messages
 *   of some categories, or of all when that is null.
 */
export type ReceiptFact =
  | { kind: "sent" | "delivered"; providerCode?: string }
  | { kind: "opened"; machine: boolean; userAgent: string | null; said?: string }
  | { kind: "clicked"; machine: boolean; url: string | null; buttonId: string | null; said?: string }
  | { kind: "dismissed" }
  | ({ kind: "failed" | "errored"; suppress?: Suppresses; isDoubtful?: true; isPassing?: true } & Refused)
  | ({ kind: "bounced"; type: "hard" | "soft" } & Refused)
  | { kind: "converted" }
  | { kind: "complained"; source: OptOutSource; reason: string | null }
  | { kind: "unsubscribed"; source: OptOutSource; reason: string | null; categories: string[] | null };

/** What a refused delivery is: it has failed when the refusal is of the recipient's side, and nothing was wrong with it. */
export const endOf = (code: DeliveryErrorCode): "failed" | "errored" =>
  code === "RECIPIENT_UNREACHABLE" || code === "LANDLINE" ? "failed" : "errored";

export type Suppresses = "carrier_opt_out" | "invalid_address" | "unsubscribe";

type Refused = { code: DeliveryErrorCode; providerCode: string | null; reason: string };

/** Where it was said that nothing more is wanted. */
export type OptOutSource = "provider" | "link" | "one_click" | "keyword";
