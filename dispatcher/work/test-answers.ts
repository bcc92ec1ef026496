import type { Msg, Subscription } from "@nats-io/nats-core";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { underWay } from "#core/runtime/batching/under-way.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";

export type TestAnswersDeps = {
  nats: Pick<Nats, "nc">;
  subject: string;
  /** What is tested, in one word: it names the part, and the line of the log when a test fails for a reason of ours. */
  what: "webhook" | "warehouse";
  /** Tests under way at a time; who asks for more hears `busy`. */
  mostAtOnce: number;
  /** Makes the test that is asked for; what it rejects with is answered as `failed`. */
  test: (message: Msg) => Promise<{ outcome: string }>;
  log: Log;
};

/** Answers the apiserver's requests for tests of what only dispatchers reach; one process answers each. */
export const testAnswers = ({ nats, subject, what, mostAtOnce, test, log }: TestAnswersDeps): Part => {
  const tests = underWay();
  let subscription: Subscription | undefined;
  const answer = async (message: Msg): Promise<void> => {
    const reply = await test(message).catch((err: unknown) => {
      log.error({ err }, `${what}_test.failed`);
      return { outcome: "failed" };
    });
    message.respond(JSON.stringify(reply));
  };
  const onRequest = (failure: Error | null, message: Msg): void => {
    if (failure !== null) return;
    if (tests.count() >= mostAtOnce) return void message.respond(JSON.stringify({ outcome: "busy" }));
    void tests.add(answer(message));
  };
  return {
    name: `${what} tests`,
    start: async () => {
      subscription = nats.nc.subscribe(subject, { queue: "dispatchers", callback: onRequest });
      await nats.nc.flush();
    },
    stop: async () => {
      subscription?.unsubscribe();
      await tests.settled();
    },
  };
};
