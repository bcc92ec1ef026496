const schemes = new Set(["https:", "http:", "mailto:", "tel:"]);

/** The address that a link may lead to; null for others, such as scripts and those of apps. */
export const linkOf = (url: string | null): string | null =>
  url !== null && URL.canParse(url) && schemes.has(new URL(url).protocol) ? url : null;

/** An image is loaded over https alone. */
export const imageOf = (url: string | null): string | null =>
  url !== null && URL.canParse(url) && new URL(url).protocol === "https:" ? url : null;
