import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { hrtime } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Arrivals, Received, ReceiverQuestion } from "./receiver.ts";

/** The receiver of webhooks, in a process of its own so that its work is not counted as ours. */
export type WebhookSink = {
  url: string;
  totals: () => Promise<Received>;
  /** When each event first came, by its number. */
  arrivals: () => Promise<Map<number, number>>;
  forget: () => Promise<void>;
  stop: () => void;
};

/** The machine's monotonic clock, ms: the sink's arrivals are in the same. */
export const monotonicMs = (): number => Number(hrtime.bigint()) / 1e6;

export const startWebhookSink = async (): Promise<WebhookSink> => {
  const child = fork(join(import.meta.dirname, "receiver.ts"), { serialization: "advanced" });
  const answer = async (): Promise<unknown> => ((await once(child, "message")) as [unknown])[0];
  const { url } = (await answer()) as { url: string }; // what receiver.ts says first
  const ask = (question: ReceiverQuestion): Promise<unknown> => {
    const answered = answer();
    child.send(question);
    return answered;
  };
  return {
    url,
    totals: async () => (await ask("totals")) as Received, // as receiver.ts answers
    arrivals: async () => {
      const { numbers, atMs } = (await ask("arrivals")) as Arrivals; // as receiver.ts answers
      return new Map(numbers.map((n, i) => [n, atMs[i] ?? Number.NaN]));
    },
    forget: async () => {
      await ask("forget");
    },
    stop: () => child.disconnect(),
  };
};

/** Waits until so many different events have come. @throws when they have not within the time */
export const arrived = async (sink: WebhookSink, count: number, withinMs: number): Promise<Received> => {
  const endsAtMs = monotonicMs() + withinMs;
  for (;;) {
    const totals = await sink.totals();
    if (totals.distinct >= count) return totals;
    if (monotonicMs() > endsAtMs) {
      throw new Error(`only ${totals.distinct} of ${count} deliveries arrived within ${withinMs / 1000} s`);
    }
    await sleep(25);
  }
};
