import { hash } from "node:crypto";
import { deliveryIdIn } from "#core/channels/email/callbacks/carried.ts";
import { headEnd } from "#core/channels/email/mail-bounds.ts";
import {
  type Inbound,
  type InboundContent,
  type InboundMedia,
  inboundMessage,
  mediaTypeOf,
  said,
} from "#core/channels/kit/inbound.ts";
import { endingOf, keptMediaType } from "#core/domain/conversations/media.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { mailFolderOf } from "#core/storage/conversations/files.ts";
import type { Threads } from "#core/storage/conversations/threads.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import { type Arrival, arrivalId } from "../conversations/arrival.ts";
import { type NoMail, type PersonMail, personMail } from "./message.ts";
import type { MailReader } from "./reader.ts";
import type { MailFile } from "./worker.ts";

export type MailDeps = {
  app: (id: string) => Promise<AppRow | null>;
  /** Whether the app has conversations. */
  isTaking: (of: OfApp) => Promise<boolean>;
  read: MailReader["read"];
  threads: Pick<Threads, "find">;
  files: Pick<FileStore, "kind" | "write">;
};

export type Mail = { of: OfApp & { provider: string }; mime: Buffer; receivedAt: Date };

/** Why a mail is not put into a conversation; `not_taken`: the app has none, or no account of mail. */
export type MailRefusal = NoMail | "unreadable" | "not_taken";

/**
 * A mail as a message of a person. Its files are stored first, under keys that follow from the mail: it may be read again.
 * @throws Unavailable
 */
export const mailReading =
  ({ app, isTaking, read, threads, files }: MailDeps) =>
  async ({ of, mime, receivedAt }: Mail, signal: AbortSignal): Promise<Inbound | MailRefusal> => {
    const [found, isTaken] = await Promise.all([app(of.appId), isTaking(of)]);
    const own = found?.channels.email?.from_address;
    if (own === undefined || !isTaken) return "not_taken";
    const whole = await read(of.appId, mime);
    const mail = whole ?? (await read(of.appId, mime.subarray(0, headEnd(mime) + 4))); // whose body takes too long
    if (mail === null) return "unreadable";
    const told = personMail(mail, { mime, own, receivedAt });
    if (typeof told === "string") return told;
    const thread = await threadOf(threads, of, told);
    if (whole === null) return inboundOf(told, thread, said("unsupported", null));
    const message = inboundOf(told, thread, said("text", told.text));
    const id = arrivalId({ of, provider: of.provider, channel: "email", message } satisfies Arrival);
    const media: InboundMedia[] = [];
    for (const [n, file] of mail.files.entries()) media.push(await kept(files, { of, id, n }, file, signal));
    return media.length === 0 ? message : inboundOf(told, thread, said("media", told.text, { media }));
  };

const inboundOf = (
  mail: PersonMail,
  thread: { key: string; deliveryId: string | null },
  content: InboundContent,
): Inbound =>
  inboundMessage({
    providerId: mail.id,
    address: mail.address,
    sender: mail.sender,
    at: mail.at,
    name: mail.name,
    replyTo: mail.replyTo,
    word: null, // a STOP in a mail may be about anything
    mail: {
      subject: mail.subject,
      html: mail.html,
      quotedText: mail.quotedText,
      cc: mail.cc,
      threadKey: thread.key,
      deliveryId: thread.deliveryId,
    },
    content,
  });

/** A thread is that of a mail that it answers, else of the first one that it names, else it begins here. */
const threadOf = async (
  threads: MailDeps["threads"],
  of: OfApp,
  { id, address, references, replyTo }: PersonMail,
): Promise<{ key: string; deliveryId: string | null }> => {
  const deliveryIds = references.flatMap((one) => deliveryIdIn(one) ?? []);
  const mailIds = references.filter((one) => deliveryIdIn(one) === null);
  if (references.length === 0) return { key: id, deliveryId: null };
  const known = await threads.find(of, { address, mailIds, deliveryIds });
  const answered = deliveryIdIn(replyTo);
  const deliveryId = answered !== null && known.deliveryIds.has(answered) ? answered : null;
  return { key: known.key ?? references[0] ?? id, deliveryId };
};

type Place = { of: OfApp; id: string; n: number };

const kept = async (
  files: MailDeps["files"],
  { of, id, n }: Place,
  { filename, mimeType: told, content }: MailFile,
  signal: AbortSignal,
): Promise<InboundMedia> => {
  const mimeType = keptMediaType(told);
  const file = { type: mediaTypeOf(told), url: null, id: null, filename, mimeType: mimeType ?? told };
  if (mimeType === null) return { ...file, kept: { problem: "type_not_allowed" } };
  if (files.kind === "none") return { ...file, kept: { problem: "no_store" } };
  const key = `${mailFolderOf(of.appId, id)}${n}.${endingOf(mimeType)}`;
  await files.write(key, contentOf(content), { contentType: mimeType, signal });
  return { ...file, kept: { key, sizeBytes: content.length, sha256: hash("sha256", content) } };
};

async function* contentOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}
