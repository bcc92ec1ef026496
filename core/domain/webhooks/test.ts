/** The longest timeout of a test, whatever the endpoint's own: the caller is answered within 30 s. */
export const longestTestMs = 25_000;
