/**
 * What a mail server of today would refuse in a mail: the first fault, null when there is none.
 * Source: RFC 5322 2.1.1 and 3.6 (lines, headers), RFC 8058 3.1 and 4 (one-click).
 */
export const mailProblem = (mail: string): string | null => {
  const head = mail.slice(0, mail.indexOf("\r\n\r\n"));
  if (mail.split("\r\n").some((line) => Buffer.byteLength(line) > 998)) return "a line has more than 998 bytes";
  if (/(^|[^\r])\n|\r(?!\n)/.test(mail)) return "a line ends without CRLF";
  const headers = Map.groupBy(head.split(/\r\n(?![ \t])/), nameOf);
  const missing = ["from", "date", "message-id", "mime-version"].find((name) => headers.get(name)?.length !== 1);
  if (missing !== undefined) return `has not exactly one ${missing}`;
  return oneClickProblem(headers);
};

const nameOf = (header: string): string => header.slice(0, header.indexOf(":")).trim().toLowerCase();

/** The value of the first header of a name, unfolded. */
const valueOf = (headers: ReadonlyMap<string, string[]>, name: string): string | undefined => {
  const [header] = headers.get(name) ?? [];
  return header
    ?.slice(header.indexOf(":") + 1)
    .replace(/\r\n/g, "")
    .trim();
};

const oneClickProblem = (headers: ReadonlyMap<string, string[]>): string | null => {
  const post = valueOf(headers, "list-unsubscribe-post");
  if (post === undefined) return null;
  if (post !== "List-Unsubscribe=One-Click") return "List-Unsubscribe-Post has another value";
  const ways = valueOf(headers, "list-unsubscribe") ?? "";
  if ([...ways.matchAll(/<https:\/\/[^<>\s]+>/g)].length !== 1) return "one-click has not exactly one https address";
  const signature = valueOf(headers, "dkim-signature");
  const [, signed = ""] = /(?:^|;)\s*h=([^;]*)/.exec(signature ?? "") ?? [];
  const names = new Set(
    signed
      .toLowerCase()
      .split(":")
      .map((name) => name.trim()),
  );
  const isCovered = names.has("list-unsubscribe") && names.has("list-unsubscribe-post");
  return signature === undefined || isCovered ? null : "DKIM does not cover the headers of one-click";
};
