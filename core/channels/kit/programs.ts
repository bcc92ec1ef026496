/**
 * Whether a `User-Agent` says of itself that it is a program, which fetches what is behind a link to show or to check it.
 * Robots name themselves by their product (RFC 9110 10.1.5); phones' own previews do so, too. Cubot makes phones.
 */
export const namesProgram = (userAgent: string): boolean =>
  /(?<!cu)bot\b|crawler|spider|preview|facebookexternalhit/i.test(userAgent);
