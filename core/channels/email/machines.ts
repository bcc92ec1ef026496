import { namesProgram } from "../kit/programs.ts";

/**
 * Who fetches a picture or a link without a person having asked for it, as far as they say so. `header` gives the value of
 * a header by its name in lower case. Source: docs/reference/email.md#opens.
 */
export const isMachine = (header: (name: string) => string | null): boolean => {
  const purpose = `${header("sec-purpose") ?? ""} ${header("purpose") ?? ""} ${header("x-purpose") ?? ""}`;
  return isMachineAgent(header("user-agent")) || /\bprefetch\b|\bpreview\b/i.test(purpose);
};

/** Whether a `User-Agent` is that of a program, wherever it was seen: at our links, or by a provider that tells it. */
export const isMachineAgent = (userAgent: string | null): boolean =>
  userAgent !== null && (machines.some((one) => one.test(userAgent)) || namesProgram(userAgent));

const machines = [
  /^Mozilla\/5\.0$/, // Apple's Mail Privacy Protection, which fetches every picture when a mail arrives
  /\bGoogleImageProxy\b/, // Gmail's copy of pictures
  /\bYahooMailProxy\b/, // Yahoo Mail's: https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html
];
