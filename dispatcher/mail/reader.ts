import { Unavailable } from "#core/errors.ts";
import { threadQueue } from "#core/runtime/threads/thread-queue.ts";
import type { MailJob, MailResult, ReadMail } from "./worker.ts";

export type MailReader = {
  /** What a mail says; null for one that is none, or takes too long to read. Apps take turns. @throws Unavailable */
  read: (app: string, mime: Buffer) => Promise<ReadMail | null>;
  stop: () => Promise<void>;
};

/**
 * Reads mails in a thread of its own, bounded in time and memory: whoever writes chooses what is in them. The thread, and with
 * it the library, is started by the first mail.
 */
export const mailReader = (limitMs = 15_000): MailReader => {
  const queue = threadQueue<MailJob, MailResult | null>({
    file: new URL("worker.ts", import.meta.url),
    batchOf: (jobs) => jobs,
    keyOf: ({ app }) => app,
    startMs: 25_000, // the library takes half a second to load, on a busy machine many times that
    memoryMegabytes: 192, // ten times the largest mail, and the library's own
    hasSpare: false,
    limitMs, // one of the largest size takes 0.3 s when that is files, 2 s when it is text
    slackMs: 0,
    most: 1,
    mostWaiting: 500, // those of the messages that one dispatcher has in hand
    mostOfKey: 500,
    slowOnes: { has: () => false, add: () => undefined },
    unavailable: null,
  });
  return {
    read: async (app, mime) => {
      const result = await queue.run({ app, mime });
      if (result === null) throw new Unavailable("the reading of mails");
      return result === "overtime" || result === "unreadable" ? null : result;
    },
    stop: queue.stop,
  };
};
