/** What a mail of a person may have at most. Source: docs/reference/mail.md#bounds. */
export const mailBounds = {
  /** Of the mail as it was sent, with its files in base64. */
  bytes: 10 * 1024 * 1024,
  /** Of its head, and of all lines of it together with those of its parts that are looked at. */
  headBytes: 65_536,
  /** Lines that begin as delimiters of parts do. */
  parts: 1_000,
} as const;

/** What of a mail is beyond its bounds. */
export type MailProblem = { what: "bytes" | "head" | "parts"; limit: number };

/** What of a mail is more than anybody writes, and takes a parser minutes; null when it is well. In one pass. */
export const mailProblem = (mime: Buffer): MailProblem | null => {
  const { bytes, headBytes, parts } = mailBounds;
  if (mime.length > bytes) return { what: "bytes", limit: bytes };
  if (headEnd(mime) > headBytes) return { what: "head", limit: headBytes };
  let count = 0;
  for (let at = mime.indexOf("\n--"); at !== -1; at = mime.indexOf("\n--", at + 3))
    if (++count > parts) return { what: "parts", limit: parts };
  return null;
};

/** Where the head of a mail ends. */
export const headEnd = (mime: Buffer): number => {
  const ends = ["\r\n\r\n", "\n\n"].map((end) => mime.indexOf(end)).filter((at) => at !== -1);
  return ends.length === 0 ? mime.length : Math.min(...ends);
};
