import { hash, type KeyObject, sign } from "node:crypto";

export type DkimKey = { domain: string; selector: string; privateKey: KeyObject };

/**
 * The DKIM-Signature of a mail: rsa-sha256, relaxed/relaxed. Signs the headers of RFC 6376 5.4.1 that are there, and both
 * that RFC 8058 4 asks for. `head` has no empty line at its end; nodemailer's signer would copy the mail through five streams.
 */
export const dkimSignature = ({ domain, selector, privateKey }: DkimKey, head: string, body: string): string => {
  const headers = head.split(/\r\n(?![ \t])/).map(relaxed);
  const signed = headers.filter(({ name }) => signedHeaders.has(name));
  const bodyHash = hash("sha256", relaxedBody(body), "base64");
  const names = signed.map(({ name }) => name).join(":");
  const unsigned =
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=${selector};\r\n` +
    ` h=${names};\r\n bh=${bodyHash};\r\n b=`;
  const text = [...signed, relaxed(unsigned)].map(({ name, value }) => `${name}:${value}`).join("\r\n");
  const signature = sign("sha256", Buffer.from(text), privateKey).toString("base64");
  return unsigned + (signature.match(/.{1,74}/g) ?? []).join("\r\n ");
};

const signedHeaders = new Set(
  "from reply-to subject date message-id to mime-version content-type list-unsubscribe list-unsubscribe-post".split(
    " ",
  ),
);

/** Source: RFC 6376 3.4.2. */
const relaxed = (header: string): { name: string; value: string } => {
  const colon = header.indexOf(":");
  const value = header
    .slice(colon + 1)
    .replace(/\r\n/g, "")
    .replace(/[ \t]+/g, " ")
    .trim();
  return { name: header.slice(0, colon).trim().toLowerCase(), value };
};

/** Source: RFC 6376 3.4.4. The body ends with one CRLF: its last line is a delimiter. */
const relaxedBody = (body: string): string => body.replace(/[ \t]+/g, " ").replaceAll(" \r\n", "\r\n");
