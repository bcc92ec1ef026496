/** A test of an endpoint takes no longer, whatever the endpoint's own timeout: the caller is answered within 30 s. */
export const longestTestMs = 25_000;
