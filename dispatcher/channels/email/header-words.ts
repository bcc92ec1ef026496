import { encodeWord, foldLines } from "nodemailer/lib/mime-funcs";
import MimeNode from "nodemailer/lib/mime-node";

/**
 * A subject as nodemailer is to write it: encoded where its text would be decoded by the reader although nobody had
 * encoded it, or would make a line that is too long. nodemailer itself encodes what is not ASCII.
 */
export const subjectHeader = (text: string): string => {
  const line = onOneLine(text);
  return isMisread(line) ? words(line) : line;
};

/** The header of a sender, whose name is encoded for the same reasons: readers decode names in quotation marks, too. */
export const fromHeader = ({ name, address }: { name: string; address: string }): string => {
  const line = onOneLine(name);
  const value = (of: string) => MimeNode.encodeHeaderValue("From", { name: of, address });
  return foldLines(`From: ${isMisread(line) ? `${words(line)} <${value("")}>` : value(line)}`);
};

const onOneLine = (text: string): string => text.replace(/\r?\n|\r/g, " ");

/** What looks like an encoded word (RFC 2047 2), and what cannot be folded below 76 characters at a blank that stays. */
const isMisread = (line: string): boolean => isPlain.test(line) && /=\?|\S{60}|\s{60}/.test(line);

const isPlain = /^[\t\x20-\x7e]*$/;
const wordCharacters = 52; // as nodemailer's own

const words = (line: string): string => encodeWord(line, "Q", wordCharacters);
