/** For how long it is tried to send what names no `ttl`: 3 days. Source: docs/reference/messages.md#ttl. */
export const standardTtlSeconds = 259_200;
