/** Why a request to an endpoint was no success, for people to sort by; shown in attempts, health and metrics. */
export const webhookErrorClasses = [
  "address_refused", // the address, or one that its name leads to, is not allowed
  "dns", // the name cannot be resolved
  "connect", // nobody listens, or no route
  "connect_timeout",
  "tls", // certificate or handshake
  "reset", // the connection ended before a whole answer
  "timeout", // connected, but no whole answer in time
  "bad_reply", // an answer that is no HTTP, or whose body breaks off
  "redirect", // 3xx: never followed
  "client_error", // 4xx
  "gone", // 410: the endpoint is disabled
  "throttled", // 429
  "server_error", // 5xx
  "template", // the body template does not render
  "configuration", // the url or a secret cannot be used
] as const;

export type WebhookErrorClass = (typeof webhookErrorClasses)[number];
