import { type Outcome, unreached } from "#core/domain/messages/outcome.ts";
import { isSecure } from "#core/schema/json/secure-address.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";

/** One request to a provider. `timeoutMs` counts from the call, waiting for a free stream included. */
export type TransportRequest = {
  /** POST when left out; DELETE over HTTP/2 alone. */
  method?: "POST" | "DELETE";
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
  timeoutMs: number;
  /** Cuts it off at once. */
  signal: AbortSignal;
  /** Asked last of all before it is written: true gives it up. */
  isOver?: (() => boolean) | undefined;
};

/**
 * What became of it:
 * - `answer`: the provider answered. `body` may be cut when the link broke after the status.
 * - `not_sent`: the provider surely did not process it; it may be sent again.
 * - `broken`: no answer, but the provider may have processed it; sending it again could repeat it.
 * - `impossible`: it was not sent, and never can be as it is.
 */
export type TransportResult =
  | { kind: "answer"; status: number; headers: Readonly<Record<string, string>>; body: string }
  | { kind: "not_sent"; reason: string }
  | { kind: "broken"; reason: string }
  | { kind: "impossible"; code: DeliveryErrorCode; reason: string };

/** The seam between a provider and its network. Rejects only with `NotBegun`: it was given up before it was written. */
export type Transport = {
  request: (request: TransportRequest) => Promise<TransportResult>;
  /** Takes nothing new, finishes what it has (bounded by the requests' own timeouts), closes its connections. */
  close: () => Promise<void>;
};

/** Makes the transport to one origin; `initialStreams` bounds what is sent before the first answer. */
export type OpenTransport = (options: { origin: string; initialStreams?: number }) => Transport;

const pauseMs = 5000; // at least; the pauses between retries of a recipient grow by themselves

/** What it means for a delivery that no answer came: it may be sent again only when it surely was not processed. */
export const notAnswered = (result: Exclude<TransportResult, { kind: "answer" }>, now: Date): Outcome => {
  const { reason } = result;
  switch (result.kind) {
    case "broken":
      return { kind: "uncertain", reason, fault: "provider" };
    case "impossible":
      return { kind: "payload_error", code: result.code, providerCode: null, reason };
    case "not_sent":
      return unreached(reason, new Date(now.getTime() + pauseMs), "provider");
  }
};

/** One request on its way through a pool. */
export type Exchange = {
  readonly request: TransportRequest;
  /** On the clock of `performance.now()`. */
  readonly deadlineAtMs: number;
  attempts: number;
  settle: (result: TransportResult) => void;
  /** Rejects with `NotBegun`. */
  giveUp: () => void;
};

/** Origin of a provider's base address. Throws when it is not https, unless the host is loopback. */
export const providerOrigin = (baseUrl: string): string => {
  const url = new URL(baseUrl);
  if (isSecure(url)) return url.origin;
  throw new Error(`a provider's address must be https unless it is loopback: ${url.origin}`);
};
