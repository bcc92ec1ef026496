import type { Db } from "mongodb";
import { systemClock } from "#core/domain/clock.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { isContact } from "#core/schema/vocabulary/channels.ts";
import { type Arrivals, arrivals } from "#core/storage/conversations/arrivals.ts";
import { threads } from "#core/storage/conversations/threads.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import type { Content } from "../callbacks/read.ts";
import { arrivalId } from "../conversations/arrival.ts";
import { type MailDeps, mailReading } from "./open.ts";
import { mailReader } from "./reader.ts";

export type MailsDeps = Pick<MailDeps, "isTaking"> & {
  files: Pick<FileStore, "kind" | "write" | "remove">;
  db: Db;
  directory: { app: MailDeps["app"] };
  count: (labels: { provider: string; kind: string }, by: number) => void;
};

/** Callbacks with their mails as messages of people; what is none is counted and left out. @throws Unavailable */
export type MailContents = (contents: readonly Content[], signal: AbortSignal) => Promise<Content[]>;

/** Removes the files of mails whose message is not there: whoever wrote it was deleted while it was read. @throws Unavailable */
export type DropLost = (contents: readonly Content[], signal: AbortSignal) => Promise<void>;

/** What a dispatcher does with mails of people, and the part that ends its thread. */
export const mailsOf = ({
  db,
  directory,
  isTaking,
  files,
  count,
}: MailsDeps): { contents: MailContents; dropLost: DropLost; part: Part } => {
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
    dropLost: dropLost({ stored: arrivals(db, systemClock).stored, files }),
    part: { name: "mail reader", start: async () => undefined, stop: reader.stop },
  };
};

type DropLostDeps = { stored: Arrivals["stored"]; files: Pick<FileStore, "remove"> };

const dropLost =
  ({ stored, files }: DropLostDeps): DropLost =>
  async (contents, signal) => {
    const kept = contents.flatMap(({ of, channel, inbound }) =>
      inbound.flatMap((message) => {
        const keys = message.media.flatMap(({ kept: file }) => (file !== undefined && "key" in file ? [file.key] : []));
        if (keys.length === 0 || !isContact(channel)) return [];
        return [{ id: arrivalId({ of, provider: of.provider, channel, message }), keys }];
      }),
    );
    if (kept.length === 0) return;
    const there = new Set((await stored(kept.map(({ id }) => id))).map(({ _id }) => _id));
    for (const { id, keys } of kept) if (!there.has(id)) for (const key of keys) await files.remove(key, signal);
  };
