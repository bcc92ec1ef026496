import type { Db } from "mongodb";
import type { Clock } from "../../domain/clock.ts";
import type { Log } from "../../runtime/process/log.ts";
import type { OfApp } from "../mongo/collection.ts";
import { conversationCounts } from "./counts.ts";

const afterMs = 250; // what changes in between is counted with it

/**
 * Has the conversations of an app counted soon after a change, without being waited for: one write for all changes of a moment.
 * Where it fails, they are counted with the next change, or within five minutes.
 */
export const touching = ({ db, clock, log }: { db: Db; clock: Clock; log: Log }): ((of: OfApp) => void) => {
  const { touch } = conversationCounts(db);
  const waiting = new Set<string>();
  return (of) => {
    if (waiting.has(of.appId)) return;
    waiting.add(of.appId);
    const begin = (): void => {
      waiting.delete(of.appId);
      touch(of, clock.now()).catch((err: unknown) => log.warn({ err }, "conversations.not_touched"));
    };
    setTimeout(begin, afterMs).unref();
  };
};
