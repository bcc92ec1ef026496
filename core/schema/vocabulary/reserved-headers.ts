/**
 * Names of request headers that an endpoint's own headers may not take: they belong to HTTP, to the connection or to the
 * webhook itself. In lower case; the second are beginnings of names. Source: docs/reference/webhooks.md#own-headers.
 */
export const reservedHeaders = {
  names: ["host", "connection", "transfer-encoding", "keep-alive", "te", "trailer", "upgrade", "expect", "user-agent"],
  beginnings: ["content-", "service-", "webhook-", "proxy-"],
} as const;

export const isReservedHeader = (name: string): boolean => {
  const lower = name.toLowerCase();
  return (
    reservedHeaders.names.some((reserved) => reserved === lower) ||
    reservedHeaders.beginnings.some((beginning) => lower.startsWith(beginning))
  );
};
