/** What an API key may be allowed; `admin` includes every other. Source: docs/reference/requests.md#scopes. */
export const scopes = ["admin", "notifications:write", "analytics:read", "events:write"] as const;

export type Scope = (typeof scopes)[number];
