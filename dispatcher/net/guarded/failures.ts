import type { WebhookErrorClass } from "#core/schema/vocabulary/webhook-errors.ts";

/** Why a request came to nothing, in words without addresses. */
export type Failure = { reason: string; errorClass: WebhookErrorClass };

export const failures = {
  unresolved: { reason: "the name cannot be resolved", errorClass: "dns" },
  noNameServer: { reason: "no name server tells the addresses of the name", errorClass: "dns" },
  resolvedLate: { reason: "the name was not resolved in time", errorClass: "dns" },
  forbidden: { reason: "the name leads to an address that is not allowed", errorClass: "address_refused" },
  connectedLate: { reason: "no connection in time", errorClass: "connect_timeout" },
  placeLate: { reason: "earlier requests held every connection until the time was up", errorClass: "timeout" },
  givenUp: { reason: "it was given up before it was sent", errorClass: "timeout" },
  answeredLate: { reason: "no whole answer in time", errorClass: "timeout" },
  closed: { reason: "the connection was closed before an answer", errorClass: "reset" },
  brokenOff: { reason: "the answer broke off", errorClass: "bad_reply" },
} as const satisfies Record<string, Failure>;

/** What an error means that came before there was a connection; `isReached`: TCP stood and TLS was being agreed on. */
export const connectFailure = (error: Error, isReached: boolean): Failure => {
  const code = codeOf(error);
  if (isReached) return { reason: tlsReasons[code] ?? `the TLS handshake failed (${code})`, errorClass: "tls" };
  if (code === "ETIMEDOUT") return failures.connectedLate;
  return { reason: connectReasons[code] ?? `no connection could be made (${code})`, errorClass: "connect" };
};

/** What an error means that came on a connection, before (`isAnswering` false) or after the head of the answer. */
export const exchangeFailure = (error: Error, isAnswering: boolean): Failure => {
  const code = codeOf(error);
  if (code === "UND_ERR_INVALID_ARG") return { reason: "a header cannot be sent", errorClass: "configuration" };
  if (isAnswering) return failures.brokenOff;
  if (resets.has(code)) return failures.closed;
  if (code === "UND_ERR_HEADERS_OVERFLOW") return { reason: "the answer's head is too large", errorClass: "bad_reply" };
  return { reason: "the answer is no HTTP", errorClass: "bad_reply" };
};

/** Shown where we have no words of our own. The system's and the library's messages are not: they name addresses. */
const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : error.name);

const connectReasons: Record<string, string> = {
  ECONNREFUSED: "nobody listens at the address",
  EHOSTUNREACH: "no route leads to the address",
  ENETUNREACH: "no route leads to the address",
  ECONNRESET: "the connection was refused",
};

const untrusted = "the certificate is of no trusted authority";

/** Source: nodejs.org/api/tls.html, "X509 certificate error codes". */
const tlsReasons: Record<string, string> = {
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is of another name",
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  ECONNRESET: "the connection was closed during the TLS handshake",
};

const resets: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT", "UND_ERR_SOCKET", "UND_ERR_INFO"]);
