import type { DeliveryErrorCode } from "../../schema/vocabulary/delivery-error-codes.ts";

/** What a provider said, with its own code kept as it came. */
export type Refusal = { code: DeliveryErrorCode; providerCode: string | null; reason: string };

/**
 * Whose fault a failure is, where others will meet it too. Left out: of this recipient, of this mail or push, or a limit
 * of rates.
 * - `provider`: of the account's server or login: every recipient meets it.
 * - `origin`: of what the recipient's address leads to (see {@link Origins}): those of the same origin meet it.
 */
export type Fault = "provider" | "origin";

/**
 * What became of one send. Closed: every documented answer of every provider maps to one of these.
 * - `sent`: the provider accepted it; `segments` are those of an SMS.
 * - `token_invalid`: the address is gone; the subscription becomes invalid, unless it was registered after `since`.
 * - `opted_out`: the recipient wants nothing more from this sender: the address is suppressed.
 * - `retry_at`: may work later, not before `at`.
 * - `config_error`: credentials or set-up are wrong; every send of this app and channel will fail alike.
 * - `payload_error`: this content can never be accepted for this recipient.
 * - `uncertain`: no answer came to what was handed over (the link broke, the deadline passed, the program ended): it may
 *   have arrived, so it is not sent again.
 */
export type Outcome =
  | { kind: "sent"; providerId: string | null; segments?: number }
  | ({ kind: "token_invalid"; since?: Date } & Refusal)
  | ({ kind: "opted_out" } & Refusal)
  | ({ kind: "retry_at"; at: Date; fault?: Fault } & Refusal)
  | ({ kind: "config_error"; fault?: Fault } & Refusal)
  | ({ kind: "payload_error" } & Refusal)
  | { kind: "uncertain"; reason: string; fault?: Fault };

export type OutcomeKind = Outcome["kind"];

/** Whose fault an outcome is that others will meet too; null when it tells them nothing, or that the provider works. */
export const faultOf = (outcome: Outcome): Fault | null => ("fault" in outcome ? (outcome.fault ?? null) : null);

/** An account that can send nothing as it is set up: every delivery says why. */
export const unusable = (reason: string): Outcome => ({
  kind: "config_error",
  code: "PROVIDER_AUTH",
  providerCode: null,
  reason,
  fault: "provider",
});

/** A server that could not be reached: nothing was handed over. */
export const unreached = (reason: string, at: Date, fault: Fault): Outcome => ({
  kind: "retry_at",
  at,
  code: "PROVIDER_UNAVAILABLE",
  providerCode: null,
  reason,
  fault,
});

/** Whom one send goes to. `address` is the device token, push endpoint or mail address. */
export type Recipient = {
  deliveryId: string;
  subscriptionId: string;
  address: string;
  webKeys?: { p256dh: string; auth: string };
  /** What the app's icon shows, of a message that adds to it. */
  badge?: number;
};

/** What addresses lead to when that is not the provider's own server: the hosts of push endpoints, the domains of mail. */
export type Origins = {
  of: (address: string) => string;
  /** Calls under way at once to all origins that failed last: a small part of what the account can do at once. */
  spare: number;
};

/** How much a provider account takes: further recipients wait for that without a place of the process. */
export type Takes = {
  /** Sends under way, with what waits to be next. Left out: as many as come. */
  atOnce?: number;
  /** Sends begun a second. Left out: as many as come. */
  perSecond?: number;
};

/** A send that was given up while nothing of it was handed to the provider: it may be sent by somebody else. */
export class NotBegun extends Error {
  constructor() {
    super("the send was given up before it began");
    this.name = "NotBegun";
  }
}

/** One provider account of one app and channel. `Push` is the rendered content, shared by all recipients of a language. */
export type Provider<Push> = {
  name: string;
  origins?: Origins;
  takes?: Takes;
  /**
   * Never rejects for an answer of the provider or a broken link: those are outcomes. Rejects with {@link NotBegun} when
   * nothing was handed over yet and `signal` aborts, or `isOver`, asked last of all before, says that it was given up.
   * What was handed over when `signal` aborts is `uncertain`.
   */
  send: (push: Push, to: Recipient, signal: AbortSignal, isOver?: () => boolean) => Promise<Outcome>;
  /**
   * Asks the provider whether it takes the account, and sends nobody anything. It does when the outcome is `sent`, or
   * `token_invalid` where a provider can only be asked with an address that nobody has. Rejects as `send` does.
   */
  check: (signal: AbortSignal) => Promise<Outcome>;
  /** Finishes what is under way (bounded by its own deadline), then closes its connections. */
  close: () => Promise<void>;
};
