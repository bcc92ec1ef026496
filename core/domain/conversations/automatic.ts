/** Headers of a mail that say who sends it, by their names in lower case: as they stand in it, unfolded. */
export type SendingHeaders = ReadonlyMap<string, string>;

export const sendingHeaders = [
  "auto-submitted",
  "content-type",
  "precedence",
  "return-path",
  "x-autoreply",
  "x-autorespond",
  "x-failed-recipients",
] as const;

/**
 * Whether a program sent a mail, so that nobody waits for an answer: a bounce, somebody's absence, a newsletter. What comes
 * over a mailing list may be a person's. Sources: RFC 3834 5, RFC 5321 4.5.5, RFC 6522.
 */
export const isAutomatic = (headers: SendingHeaders, from: string): boolean => {
  const of = (name: (typeof sendingHeaders)[number]): string => (headers.get(name) ?? "").trim().toLowerCase();
  const [submitted = ""] = of("auto-submitted").split(/[\s;(]/);
  return (
    (submitted !== "" && submitted !== "no") ||
    ["bulk", "junk", "auto_reply"].includes(of("precedence")) ||
    of("return-path") === "<>" ||
    of("content-type").startsWith("multipart/report") ||
    of("x-autoreply") === "yes" ||
    headers.has("x-autorespond") ||
    headers.has("x-failed-recipients") ||
    from.startsWith("mailer-daemon@")
  );
};
