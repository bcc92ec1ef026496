import { createHash, createPublicKey, verify } from "node:crypto";

/** Public keys in PEM by the DNS name of their record: `<selector>._domainkey.<domain>`. */
export type DkimKeys = Readonly<Record<string, string>>;

export type DkimVerdict = "none" | "valid" | "invalid";

/** Checks the first DKIM signature of a raw mail; of the algorithms only rsa-sha256, relaxed. Source: RFC 6376 3.4 to 3.7. */
export const checkDkim = (mail: string, keys: DkimKeys): DkimVerdict => {
  const end = mail.indexOf("\r\n\r\n");
  const headers = mail.slice(0, end).split(/\r\n(?![ \t])/);
  const signed = headers.find((header) => nameOf(header) === "dkim-signature");
  if (signed === undefined) return "none";
  const tags = tagsOf(signed);
  const key = keys[`${tags.get("s")}._domainkey.${tags.get("d")}`];
  if (key === undefined || tags.get("a") !== "rsa-sha256" || tags.get("c") !== "relaxed/relaxed") return "invalid";
  const bodyHash = createHash("sha256")
    .update(relaxedBody(mail.slice(end + 4)))
    .digest("base64");
  if (bodyHash !== tags.get("bh")) return "invalid";
  const chosen = choose(headers, (tags.get("h") ?? "").split(":"));
  const unsigned = relaxedHeader(signed.replace(/(;\s*b=)[^;]*/, "$1"));
  const text = [...chosen.map(relaxedHeader), unsigned].join("\r\n");
  const signature = Buffer.from(tags.get("b") ?? "", "base64");
  return verify("sha256", Buffer.from(text), createPublicKey(key), signature) ? "valid" : "invalid";
};

const nameOf = (header: string): string => header.slice(0, header.indexOf(":")).trim().toLowerCase();

const tagsOf = (header: string): Map<string, string> =>
  new Map(
    header
      .slice(header.indexOf(":") + 1)
      .replace(/\s+/g, "")
      .split(";")
      .map((tag) => [tag.slice(0, tag.indexOf("=")), tag.slice(tag.indexOf("=") + 1)]),
  );

/** The signed headers: of several with one name the lowest that is left. */
const choose = (headers: readonly string[], names: readonly string[]): string[] => {
  const left = [...headers];
  return names.flatMap((name) => {
    const at = left.findLastIndex((header) => nameOf(header) === name.trim().toLowerCase());
    return at === -1 ? [] : left.splice(at, 1);
  });
};

const relaxedHeader = (header: string): string => {
  const value = header
    .slice(header.indexOf(":") + 1)
    .replace(/\r\n/g, "")
    .replace(/[ \t]+/g, " ")
    .trim();
  return `${nameOf(header)}:${value}`;
};

const relaxedBody = (body: string): string => {
  const lines = body.split("\r\n").map((line) => line.replace(/[ \t]+/g, " ").replace(/ $/, ""));
  const last = lines.findLastIndex((line) => line !== "");
  return lines
    .slice(0, last + 1)
    .map((line) => `${line}\r\n`)
    .join("");
};
