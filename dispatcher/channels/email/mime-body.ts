import MimeNode from "nodemailer/lib/mime-node";
import { encode, wrap } from "nodemailer/lib/qp";
import type { EmailMessage } from "#core/channels/email/render.ts";
import { type Tracked, type Tracker, withAddresses } from "#core/channels/email/tracking.ts";

/** A file as it goes out with a mail. */
export type Attached = { filename: string; mimeType: string; content: Buffer };

/** A mail whose body is encoded, once for all its recipients. */
export type EncodedMail = Omit<EmailMessage, "html" | "text"> & {
  body: Tracked;
  attached?: readonly Attached[];
};

const boundary = "=_herald"; // RFC 2045 6.7: no quoted-printable text has it
const outerBoundary = "=_files";
const alternatives = `multipart/alternative; boundary="${boundary}"`;

/** The type of its content as a whole. */
export const mailType = ({ attached = [] }: Pick<EncodedMail, "attached">): string =>
  attached.length === 0 ? alternatives : `multipart/mixed; boundary="${outerBoundary}"`;

export const encodedMail = ({ html, text, ...mail }: EmailMessage): EncodedMail => {
  const [plain, rich] = [encodedPart("text/plain", text), encodedPart("text/html", html)];
  const end = { pieces: [`\r\n--${boundary}--\r\n`], trackers: [] };
  return { ...mail, body: [plain, rich, end].reduce(joined) };
};

const joined = (before: Tracked, after: Tracked): Tracked => {
  const [first = "", ...rest] = after.pieces;
  const pieces = [...before.pieces.slice(0, -1), `${before.pieces.at(-1) ?? ""}${first}`, ...rest];
  return { pieces, trackers: [...before.trackers, ...after.trackers] };
};

/** The body for one recipient. */
export const bodyOf = ({ body, attached = [] }: EncodedMail, addressOf: (tracker: Tracker) => string): string => {
  const said = withAddresses(body, (tracker) => onLinesOfItsOwn(addressOf(tracker)));
  if (attached.length === 0) return said;
  const parts = [`Content-Type: ${alternatives}\r\n\r\n${said}`, ...attached.map(filePart)];
  return `${parts.map((part) => `\r\n--${outerBoundary}\r\n${part}`).join("")}\r\n--${outerBoundary}--\r\n`;
};

const filePart = ({ filename, mimeType, content }: Attached): string => {
  const head = new MimeNode("multipart/mixed").createChild(mimeType, { filename }).setHeader({
    "Content-Disposition": "attachment",
    "Content-Transfer-Encoding": "base64",
  });
  return `${head.buildHeaders()}\r\n\r\n${content.toString("base64").replace(/.{76}(?=.)/g, "$&\r\n")}`;
};

/**
 * nodemailer would look through each recipient's bodies to choose an encoding, and then encode them: most of the time that
 * a mail takes.
 */
const encodedPart = (contentType: string, { pieces, trackers }: Tracked): Tracked => {
  const [first = "", ...rest] = pieces.map(quotedPrintable);
  const head =
    `\r\n--${boundary}\r\nContent-Type: ${contentType}; charset=utf-8\r\n` +
    "Content-Transfer-Encoding: quoted-printable\r\n\r\n";
  return { pieces: [head + first, ...rest], trackers };
};

const longestLine = 75; // of 76 characters the last is a soft break's

const quotedPrintable = (text: string): string => wrap(encode(text.replace(/\r\n?|\n/g, "\r\n")), longestLine);

const softBreak = "=\r\n"; // RFC 2045 6.7: no line end of the text
const line = new RegExp(`.{1,${longestLine}}`, "g");

const onLinesOfItsOwn = (address: string): string => {
  const lines = encode(address).match(line) ?? [];
  return `${softBreak}${lines.join(softBreak)}${softBreak}`;
};
