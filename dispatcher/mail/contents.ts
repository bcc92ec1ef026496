import type { Db } from "mongodb";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { threads } from "#core/storage/conversations/threads.ts";
import type { Content } from "../callbacks/read.ts";
import { type MailDeps, mailReading } from "./open.ts";
import { mailReader } from "./reader.ts";

export type MailsDeps = Pick<MailDeps, "isTaking" | "files"> & {
  db: Db;
  directory: { app: MailDeps["app"] };
  count: (labels: { provider: string; kind: string }, by: number) => void;
};

/** Callbacks with their mails as messages of people; what is none is counted and left out. @throws Unavailable */
export type MailContents = (contents: readonly Content[], signal: AbortSignal) => Promise<Content[]>;

/** What a dispatcher does with mails of people, and the part that ends its thread. */
export const mailsOf = ({
  db,
  directory,
  isTaking,
  files,
  count,
}: MailsDeps): { contents: MailContents; part: Part } => {
  const reader = mailReader();
  const read = mailReading({ app: directory.app, isTaking, read: reader.read, threads: threads(db), files });
  const contentOf = async (content: Content, signal: AbortSignal): Promise<Content> => {
    const { of, mail, callback } = content;
    if (mail === null) return content;
    const message = await read({ of, mime: mail, receivedAt: callback.receivedAt }, signal);
    const isNone = typeof message === "string";
    count({ provider: of.provider, kind: isNone ? `mail_${message}` : "inbound" }, 1);
    return { ...content, mail: null, inbound: isNone ? content.inbound : [...content.inbound, message] };
  };
  return {
    contents: async (contents, signal) => {
      const all: Content[] = [];
      for (const content of contents) all.push(await contentOf(content, signal)); // one after another: each is large
      return all;
    },
    part: { name: "mail reader", start: async () => undefined, stop: reader.stop },
  };
};
