import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { bundleVariable } from "../../../dev/processes/programs.ts";
import { apnsIdOf } from "../../../dispatcher/channels/ios-push/apns.ts";
import { deliveryIdOf } from "../../../dispatcher/messages/delivery/delivery-row.ts";
import { testServers } from "../../support/servers/servers.ts";
import { inSuite } from "../../support/suite/soak.ts";
import { post, type Sending, seedDevices, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { auditInbox, type Inbox, startInbox } from "../../support/webhooks/inbox.ts";
import { addEndpoint, anEvent, eventsUrl, loopbackAllowed } from "../../support/webhooks/traffic.ts";

/** Pushes a second, and as many webhooks. */
const perSecond = inSuite(10, { soak: 200 });
/** How long the load goes on between two changes. */
const betweenMs = inSuite(500, { soak: 10_000 });
/** Of dispatchers: at first, then, and in the end. */
const counts = inSuite({ least: 1, most: 2, last: 1 }, { soak: { least: 1, most: 4, last: 2 } });
const eventsAtOnce = 5;
const deviceCount = 50;
const withinMs = inSuite(120_000, { soak: 300_000 });

/** Bundles of the release before, made by `node dev/bundle.ts FOLDER` of its commit: the load is upgraded from them, and back. */
const formerBundle = process.env["HERALD_FORMER_BUNDLE"];
const former: Record<string, string> = formerBundle ? { [bundleVariable]: formerBundle } : {};

describe("scaling out and in, and a release that replaces every program, under load", function () {
  this.timeout(600_000);
  let sending: Sending;
  let inbox: Inbox;
  let devices: SubscriptionRow[];

  before(async () => {
    inbox = await startInbox();
    sending = await startSending(await testServers());
    devices = await seedDevices(sending.system, deviceCount);
    await addEndpoint(sending.system, { url: `${inbox.url}/a`, names: ["a"] });
  });
  after(async () => {
    await sending?.close();
    await inbox?.stop();
  });

  const start = (program: "apiserver" | "dispatcher", release: Record<string, string> = {}) =>
    sending.system.start(program, { ...loopbackAllowed, HERALD_DRAIN_SECONDS: "10", ...release });

  it("loses nothing, doubles nothing, and refuses no request", async () => {
    const serving = [await start("apiserver", former), await start("apiserver", former)];
    const dispatchers = [await start("dispatcher", former)];
    const load = startLoad({ sending, serving, devices });
    const goOn = () => sleep(betweenMs); // the load, as it is now, is what is tried
    /** As a Deployment does it: a new one first. */
    const replaceAll = async (release: Record<string, string>): Promise<void> => {
      for (const one of dispatchers.splice(0)) {
        dispatchers.push(await start("dispatcher", release));
        await one.stop();
      }
      const old = serving.slice();
      serving.push(...(await Promise.all(old.map(() => start("apiserver", release)))));
      await Promise.all(old.map((one) => leave(serving, one)));
    };
    await goOn();
    const more = Array.from({ length: counts.most - counts.least }, () => start("dispatcher", former));
    dispatchers.push(...(await Promise.all(more)));
    await goOn();
    await Promise.all(dispatchers.splice(counts.last).map((one) => one.stop()));
    await goOn();
    await replaceAll({});
    await goOn();
    if (formerBundle) await replaceAll(former);
    await goOn();
    const { messages, events, answers, seconds } = await load.stop();
    const rates = [messages.length, events].map((count) => `${count} (${Math.round(count / seconds)}/s)`);
    console.log(`      messages, events: ${rates.join(", ")}; answers: ${JSON.stringify(Object.fromEntries(answers))}`);
    expect([...answers.keys()]).to.deep.equal(["202"]);

    const keys = messages.map(({ id, to }) => apnsIdOf(deliveryIdOf(id, to)));
    const open = { _id: { $in: messages.map(({ id }) => id) }, completed_at: null };
    const countOpen = () => sending.system.db.collection<{ _id: string }>("messages").countDocuments(open);
    await until(async () => (await countOpen()) === 0, withinMs);
    const pushed = sending.apns.log.tally("key");
    expect([...new Set(keys.map((key) => pushed.get(key) ?? 0))], "pushes of each message").to.deep.equal([1]);
    await until(() => auditInbox(inbox.arrivals("/a"), events).missed.length === 0, withinMs);
    expect(auditInbox(inbox.arrivals("/a"), events)).to.deep.include({ missed: [], repeated: 0 });
  });
});

/** As a pod leaves a Service: it is told to stop and serves on for 10 s; proxies hear a moment later that it takes no new requests. */
const leave = async (serving: SystemProgram[], one: SystemProgram): Promise<void> => {
  const stopped = one.stop();
  await sleep(1_000);
  serving.splice(serving.indexOf(one), 1);
  await stopped;
};

type Sent = { id: string; to: string };

/** Messages and events at a steady pace, each once, whoever serves; `answers` counts them by status or by what was thrown. */
const startLoad = ({ sending, serving, devices }: LoadOptions) => {
  const { system } = sending;
  const beganMs = performance.now();
  const messages: Sent[] = [];
  const answers = new Map<string, number>();
  const over = new AbortController();
  let [asked, events] = [0, 0];
  const api = (): SystemProgram => serving[asked++ % serving.length] ?? expect.fail("nobody serves");
  const note = (answer: string) => answers.set(answer, (answers.get(answer) ?? 0) + 1);
  const push = async (): Promise<void> => {
    const to = devices[asked % devices.length]?._id ?? "";
    const { status, body } = await post(system, api(), { target: { include_subscription_ids: [to] } });
    if (status === 202) messages.push({ id: String(body["id"]), to });
    note(String(status));
  };
  const tell = async (): Promise<void> => {
    const some = Array.from({ length: eventsAtOnce }, () => anEvent("a", events++));
    const headers = { authorization: `Bearer ${system.token}`, "content-type": "application/json" };
    const body = JSON.stringify({ events: some });
    note(String((await fetch(eventsUrl(system, api()), { method: "POST", headers, body })).status));
  };
  const keep = async (call: () => Promise<void>, rate: number): Promise<void> => {
    while (!over.signal.aborted) {
      const next = sleep(1_000 / rate);
      await call().catch((error: unknown) => note(String(error)));
      await next;
    }
  };
  const callers = inSuite(8, { soak: 32 }); // one alone would wait for each answer
  const calling = Array.from({ length: callers }, () => [
    keep(push, perSecond / callers),
    keep(tell, perSecond / eventsAtOnce / callers),
  ]).flat();
  return {
    stop: async () => {
      over.abort();
      await Promise.all(calling);
      return { messages, events, answers, seconds: (performance.now() - beganMs) / 1_000 };
    },
  };
};

type LoadOptions = { sending: Sending; serving: readonly SystemProgram[]; devices: readonly SubscriptionRow[] };
