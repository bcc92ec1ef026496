import { setTimeout as sleep } from "node:timers/promises";
import type { TestServers } from "../servers/servers.ts";
import { testCredentials } from "../system/credentials.ts";
import { type System, startSystem } from "../system/system.ts";
import { type Inbox, startInbox } from "./inbox.ts";
import { anEvent, loopbackAllowed, postEvents } from "./traffic.ts";

/** An installation whose endpoints are in the process of the test. */
export type Hooked = { system: System; inbox: Inbox; close: () => Promise<void> };

export const startHooked = async (servers: Omit<TestServers, "kubeconfig" | "s3Url">): Promise<Hooked> => {
  const inbox = await startInbox();
  const apns = { url: "https://127.0.0.1:9", credentials: testCredentials() }; // nothing is pushed
  const system = await startSystem({ ...servers, apns, env: { ...loopbackAllowed, HERALD_LOG_LEVEL: "debug" } });
  return {
    system,
    inbox,
    close: async () => {
      await system.stop();
      await inbox.stop();
    },
  };
};

/** Events that are posted one after another, as by a caller that heeds the service's answers. */
export type Stream = {
  posted: () => number;
  /** When each was first posted. */
  postedAt: readonly Date[];
  /** Ends it once the last one is accepted; how many were. */
  stop: () => Promise<number>;
};

/**
 * Posts the events 0, 1, 2 … of a name, so many a second. One that is not accepted is posted again, under its id, until
 * it is.
 */
export const keepPosting = (system: System, api: { url: string }, name: string, perSecond = 20): Stream => {
  const postedAt: Date[] = [];
  let accepted = 0;
  const over = new AbortController();
  const isAccepted = (n: number): Promise<boolean> =>
    postEvents(system, api, [anEvent(name, n)]).then(
      () => true,
      () => false,
    );
  const post = async (): Promise<void> => {
    while (!over.signal.aborted) {
      postedAt.push(new Date());
      const next = sleep(1000 / perSecond);
      while (!(await isAccepted(accepted))) await sleep(100);
      accepted++;
      await next;
    }
  };
  const posting = post();
  return {
    posted: () => accepted,
    postedAt,
    stop: async () => {
      over.abort();
      await posting;
      return accepted;
    },
  };
};
