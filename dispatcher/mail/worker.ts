import { type Attachment, type HeaderLines, type ParsedMail, simpleParser } from "mailparser";
import { type SendingHeaders, sendingHeaders } from "#core/domain/conversations/automatic.ts";
import { beginJob, serve } from "#core/runtime/threads/serve.ts";

export type MailJob = { app: string; mime: Uint8Array };

/** A file of a mail. */
export type MailFile = { filename: string | null; mimeType: string; content: Uint8Array };

/** What a mail says; addresses as they are written. */
export type ReadMail = {
  from: { address: string; name: string } | null;
  to: string[];
  cc: string[];
  subject: string | null;
  messageId: string | null;
  inReplyTo: string | null;
  references: string[];
  date: Date | null;
  text: string | null;
  html: string | null;
  files: MailFile[];
  headers: SendingHeaders;
};

/** `unreadable`: it is no mail. */
export type MailResult = ReadMail | "unreadable";

const most = { addresses: 50, references: 50, files: 30, text: 1_000_000, html: 100_000 };

/** Its HTML is not made to text here, and a picture stays a file: what is not asked for costs nothing. */
const options = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, keepCidLinks: true };

serve(async ([job]: MailJob[]): Promise<MailResult[]> => {
  beginJob();
  if (job === undefined) return [];
  return [
    await simpleParser(Buffer.from(job.mime), options)
      .then(read)
      .catch(() => "unreadable" as const),
  ];
});

const read = (mail: ParsedMail): ReadMail => {
  const [from] = mail.from?.value ?? [];
  return {
    from: from?.address === undefined ? null : { address: from.address, name: from.name },
    to: addressesOf(mail.to),
    cc: addressesOf(mail.cc),
    subject: mail.subject ?? null,
    messageId: mail.messageId ?? null,
    inReplyTo: mail.inReplyTo ?? null,
    references: listOf(mail.references).slice(0, most.references),
    date: mail.date ?? null,
    text: mail.text?.slice(0, most.text) ?? null,
    html: htmlOf(mail)?.slice(0, most.html) ?? null,
    files: mail.attachments.slice(0, most.files).map(fileOf),
    headers: headersOf(mail.headerLines),
  };
};

/** Without any it is false, or, unlike its types say, not there. */
const htmlOf = ({ html }: { html?: string | false }): string | null => html || null;

type Addresses = NonNullable<ParsedMail["to"]>;

/** Those of groups, too. */
const addressesOf = (given: Addresses | undefined): string[] =>
  listOf(given)
    .flatMap(({ value }) => value.flatMap(({ address, group = [] }) => [address, ...group.map((one) => one.address)]))
    .flatMap((address) => (address === undefined || address === "" ? [] : [address]))
    .slice(0, most.addresses);

const listOf = <T>(given: T | T[] | undefined): T[] => {
  if (given === undefined) return [];
  return Array.isArray(given) ? given : [given];
};

const fileOf = ({ filename, contentType, content }: Attachment): MailFile => ({
  filename: filename?.slice(0, 255) ?? null,
  mimeType: contentType.slice(0, 255),
  content,
});

/** The last of each name: those that were put above by who handed it on count less than the mail's own. */
const headersOf = (lines: HeaderLines): Map<string, string> =>
  new Map(
    lines.flatMap(({ key, line }) =>
      wanted.has(key)
        ? [
            [
              key,
              line
                .slice(line.indexOf(":") + 1, 500)
                .replace(/\s+/g, " ")
                .trim(),
            ] as const,
          ]
        : [],
    ),
  );

const wanted: ReadonlySet<string> = new Set(sendingHeaders);
