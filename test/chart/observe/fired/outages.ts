import { connectNats } from "#core/queue/jetstream/connect.ts";
import { jobStream } from "#core/queue/jetstream/topology.ts";
import type { StatusDocument } from "#core/schema/status/status.ts";
import { testTiming } from "../../../support/suite/soak.ts";
import { until } from "../../../support/until.ts";
import { type Planted, withinMs } from "./planted.ts";

/** What is gone or full altogether: nothing is delivered meanwhile. */
export const outageCases = (at: () => Planted): void => {
  it("no dispatcher runs, and the status says so by the same Prometheus", async () => {
    const { programs, devices, sendTo, fires, finds, shows } = at();
    const delivery = async (): Promise<string | undefined> => {
      const reply = await fetch(`${programs.apiserver.url}/status.json`);
      const { components } = (await reply.json()) as StatusDocument; // the apiserver's own
      return components.find(({ name }) => name === "delivery")?.status;
    };
    const device = await devices(1);
    await finds('rate(herald_queue_messages_total{consumer="plan"}[20s]) > 0', () => sendTo(device));
    await using broken = new AsyncDisposableStack();
    await programs.dispatcher.kill();
    broken.defer(() => programs.dispatcher.restart());
    // Minutes of work at the pace of the window before, in which messages of former cases may have been tried again, too.
    for (let n = 0; n < 6; n++) await Promise.all(Array.from({ length: 200 }, () => sendTo(device)));
    await fires(["HeraldQueueBehind"]);
    await shows("HeraldQueueBehind", '"consumer":"plan"');
    await fires(["HeraldProgramDown", "HeraldQueueStuck"], () => sendTo(device));
    await shows("HeraldProgramDown");
    await shows("HeraldQueueStuck", '"consumer":');
    await until(async () => (await delivery()) === "major_outage", withinMs);
  });

  it("a stream is nearly full", async () => {
    const { sending, stores, programs, fires, shows } = at();
    const { prefix } = sending.system;
    const { stream } = jobStream(prefix, testTiming);
    await using used = new AsyncDisposableStack();
    await programs.dispatcher.kill(); // it would work it off
    used.defer(() => programs.dispatcher.restart());
    const nats = await connectNats({ url: stores.nats.url, name: "somebody" });
    used.defer(() => nats.close());
    used.defer(async () => void (await nats.jsm.streams.purge(stream.name)));
    const large = Buffer.alloc(Math.floor((stream.max_bytes ?? 0) / 64)); // 60 of them are more than four fifths
    for (let n = 0; n < 60; n++) await nats.js.publish(`${prefix}.jobs.large.${n}`, large);
    await fires(["HeraldStreamNearlyFull"]);
    await shows("HeraldStreamNearlyFull", stream.name);
  });

  it("MongoDB is away", async () => {
    const { stores, sendTo, fires, shows } = at();
    await using broken = new AsyncDisposableStack();
    await stores.mongodb.stop();
    broken.defer(() => stores.mongodb.start());
    const budgets = [
      "HeraldAcceptBudgetBurnsFast",
      "HeraldAcceptBudgetBurnsSlowly",
      "HeraldApiBudgetBurnsFast",
      "HeraldApiBudgetBurnsSlowly",
    ];
    const asked = (): Promise<unknown> => Promise.allSettled(Array.from({ length: 10 }, () => sendTo(["sub"])));
    await fires(budgets, asked);
    for (const alert of budgets) await shows(alert, '"status":"503"', '"route":"/v1/notifications"');
  });
};
