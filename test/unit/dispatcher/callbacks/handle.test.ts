import { expect } from "chai";
import { callbacks } from "#core/channels/callbacks.ts";
import type { CallbackContent } from "#core/channels/kit/callbacks.ts";
import { inboundMessage, said as saying } from "#core/channels/kit/inbound.ts";
import { ownCallback, ownProvider } from "#core/channels/kit/own-receipts.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { type InboundWord, wordOf } from "#core/domain/suppressions/words.ts";
import { Unavailable } from "#core/errors.ts";
import type { CallbackBatch } from "#core/queue/callbacks.ts";
import type { HandlerContext } from "#core/queue/jetstream/worker.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import { type HandleDeps, handleCallbacks } from "../../../../dispatcher/callbacks/handle.ts";
import { readCallbacks } from "../../../../dispatcher/callbacks/read.ts";
import { handClock, noon } from "../../../support/rows/work.ts";

const log = createLog({ program: "test", level: "error", destination: { write: () => undefined } });
const of = { tenantId: "ten_1", appId: "app_1" };
const delivered = (deliveryId: string): Receipt => ({
  kind: "delivered",
  deliveryId,
  providerId: null,
  address: null,
  at: noon,
});
const callback = { part: "", url: "", contentType: "application/json", receivedAt: noon, body: Buffer.from("{}") };

/** Handles what a provider `post` says, where the deliveries in `missing` are not stored. */
const given = ({
  content,
  missing = [],
  channel = "email",
  ...over
}: Partial<HandleDeps> & { content?: Partial<CallbackContent>; missing?: string[]; channel?: Channel }) => {
  const done: string[] = [];
  const kept: Parameters<HandleDeps["queue"]["keep"]>[] = [];
  const followed = new Set<string>();
  const clock = handClock();
  const post = { channel, certified: null, mail: null, verify: () => ({ kind: "unknown" as const }) };
  const read = () => ({ receipts: [], inbound: [], ...content });
  const handle = handleCallbacks({
    bodies: (batch, work) => work({ batch, forget: async () => undefined }),
    mails: async (contents) => [...contents],
    dropLost: async () => undefined,
    check: async ({ callbacks: signed }) => ({ signed, pending: [] }),
    read: readCallbacks({ callbacks: { ...callbacks, post: { ...post, read } }, count: () => undefined, log }),
    apply: async ({ receipts, isRepeated }) => {
      done.push(...receipts.map(({ deliveryId }) => `${deliveryId}${isRepeated ? " again" : ""}`));
      return receipts.filter(({ deliveryId }) => missing.includes(deliveryId ?? ""));
    },
    suppressor: {
      suppress: async (causes) => void done.push(...causes.map(({ address, said }) => `${said.reason} ${address}`)),
      lift: async ({ address }) => void done.push(`lifted ${address}`),
    },
    receive: async ({ arrivals }) => {
      done.push(...arrivals.map(({ message }) => `received ${message.providerId}`));
      return false; // the app has no conversations
    },
    sessions: { open: async (_, wrote) => void done.push(...wrote.map(({ address }) => `opened ${address}`)) },
    words: {
      known: async ({ ids }) => new Set(ids.filter((id) => followed.has(id))),
      remember: async ({ ids }) => ids.forEach((id) => followed.add(id)),
    },
    confirm: async (url) => void done.push(`confirmed ${url}`),
    queue: { keep: async (...one) => void kept.push(one) },
    unmatched: (_, receipts) => void done.push(`gave up ${receipts.length}`),
    clock,
    ...over,
  });
  const run = (batch: CallbackBatch["callbacks"], context: Partial<HandlerContext> = {}) =>
    handle(
      { callbacks: batch },
      {
        subject: "",
        signal: new AbortController().signal,
        attempt: 1,
        isRepeated: false,
        traceparent: null,
        ...context,
      },
    );
  const fromPost = (context: Partial<HandlerContext> = {}) => run([{ ...of, provider: "post", callback }], context);
  const own = (receipts: readonly Receipt[], context: Partial<HandlerContext> = {}) =>
    run([{ ...of, provider: ownProvider, callback: ownCallback(receipts, noon) }], context);
  return { done, kept, clock, fromPost, own, run };
};

describe("callbacks in the queue", () => {
  it("are applied", async () => {
    const { fromPost, done } = given({ content: { receipts: [delivered("dlv_1"), delivered("dlv_2")] } });
    expect(await fromPost()).to.deep.equal({ kind: "done" });
    expect(done).to.deep.equal(["dlv_1", "dlv_2"]);
  });

  it("say when they may have been applied in part before", async () => {
    const { fromPost, done } = given({ content: { receipts: [delivered("dlv_1")] } });
    await fromPost({ isRepeated: true });
    expect(done).to.deep.equal(["dlv_1 again"]);
  });

  it("suppress who leaves by a mail whose delivery is gone, on the channel's own addresses alone", async () => {
    const leaves = (address: string | null): Receipt => ({
      ...delivered("dlv_1"),
      kind: "unsubscribed",
      source: "one_click",
      reason: null,
      categories: null,
      address,
    });
    const { own, done } = given({ missing: ["dlv_1"] });
    await own([leaves("ann@example.test"), leaves("+4915112345678"), leaves(null)]);
    expect(done.slice(3)).to.deep.equal(["unsubscribe ann@example.test"]);
  });

  it("put receipts of deliveries that are not stored back into the queue, by themselves", async () => {
    const receipts = [delivered("dlv_1"), delivered("dlv_2")];
    const { fromPost, kept } = given({ content: { receipts }, missing: ["dlv_2"] });
    expect(await fromPost()).to.deep.equal({ kind: "done" });
    expect(kept).to.deep.equal([[{ ...of, provider: ownProvider }, ownCallback([delivered("dlv_2")], noon)]]);
  });

  it("put back many in several, none of which is too large", async () => {
    const ids = Array.from({ length: 2_500 }, (_, n) => `dlv_${n}`);
    const { fromPost, kept } = given({ content: { receipts: ids.map(delivered) }, missing: ids });
    await fromPost();
    expect(kept).to.have.length(3);
    for (const [, { body }] of kept) expect(body.length).to.be.below(1_000_000);
  });

  it("wait alone for their certificate, and by themselves beside others", async () => {
    const check: HandleDeps["check"] = async ({ callbacks: [first, ...rest] }) => ({
      signed: rest,
      pending: first === undefined ? [] : [first],
    });
    const { run, kept, done } = given({ check, content: { receipts: [delivered("dlv_1")] } });
    const unchecked = { ...of, provider: "ses", callback: { ...callback, isUnchecked: true as const } };
    expect(await run([unchecked])).to.include({ kind: "retry", delayMs: 1_000 });
    expect(kept).to.deep.equal([]);
    expect(await run([unchecked, { ...of, provider: "post", callback }])).to.deep.equal({ kind: "done" });
    expect(kept).to.deep.equal([[{ ...of, provider: "ses" }, unchecked.callback]]);
    expect(done).to.deep.equal(["dlv_1"]);
  });

  it("are not done when what is missing cannot be put back", async () => {
    const keep = async () => {
      throw new Unavailable("the queue of callbacks");
    };
    const content = { receipts: [delivered("dlv_1")] };
    const { fromPost } = given({ content, missing: ["dlv_1"], queue: { keep } });
    expect(await fromPost().catch((error: unknown) => error)).to.be.instanceOf(Unavailable);
  });

  it("that cannot be read stop no others", async () => {
    const { run, done } = given({ content: { receipts: [delivered("dlv_1")] } });
    const unreadable = { ...of, provider: "sendgrid", callback };
    const unknown = { ...of, provider: "none", callback };
    expect(await run([unreadable, unknown, { ...of, provider: "post", callback }])).to.deep.equal({ kind: "done" });
    expect(done).to.deep.equal(["dlv_1"]);
  });

  it("confirm that they are wanted", async () => {
    const { fromPost, done } = given({ content: { confirm: "https://sns.example/" } });
    await fromPost();
    expect(done).to.deep.equal(["confirmed https://sns.example/"]);
  });

  describe("that want to be confirmed and are not answered", () => {
    const content = { confirm: "https://sns.example/", inbound: [] };
    const away = async () => {
      throw new Unavailable("the provider");
    };

    it("are tried again", async () => {
      expect(await given({ content, confirm: away }).fromPost()).to.include({ kind: "retry", delayMs: 1_000 });
    });

    it("are given up after a quarter of an hour", async () => {
      const { fromPost, clock } = given({ content, confirm: away });
      clock.tick(900_000);
      expect(await fromPost()).to.deep.equal({ kind: "done" });
    });
  });

  it("leave what cannot be done yet to a message of its own, so that words are followed once", async () => {
    const stop = { providerId: "p", address: "ada@example.com", at: noon, content: saying("text", "STOP") };
    const content = { inbound: [inboundMessage(stop)] };
    const { run, done, kept } = given({ content, missing: ["dlv_1"] });
    const waiting = ownCallback([delivered("dlv_1")], noon);
    const batch = [
      { ...of, provider: ownProvider, callback: waiting },
      { ...of, provider: "post", callback },
    ];
    expect(await run(batch)).to.deep.equal({ kind: "done" });
    expect(done).to.deep.equal(["carrier_opt_out ada@example.com", "received p", "dlv_1"]);
    expect(kept).to.deep.equal([[{ ...of, provider: ownProvider }, waiting]]);
  });
});

describe("receipts that wait for their delivery", () => {
  it("are tried again, ever more rarely", async () => {
    const { own } = given({ missing: ["dlv_1"] });
    const delays = [1, 2, 3, 7, 20].map(async (attempt) => {
      const settlement = await own([delivered("dlv_1")], { attempt });
      return "delayMs" in settlement ? settlement.delayMs : null;
    });
    expect(await Promise.all(delays)).to.deep.equal([1_000, 2_000, 4_000, 60_000, 60_000]);
  });

  it("are applied as soon as it is stored", async () => {
    const { own, done } = given({});
    expect(await own([delivered("dlv_1")], { attempt: 3 })).to.deep.equal({ kind: "done" });
    expect(done).to.deep.equal(["dlv_1"]);
  });

  it("are given up, and counted, after a quarter of an hour", async () => {
    const { own, done, clock } = given({ missing: ["dlv_1", "dlv_2"] });
    clock.tick(900_000);
    const receipts = ["dlv_1", "dlv_2", "dlv_3"].map(delivered);
    expect(await own(receipts, { attempt: 20 })).to.deep.equal({ kind: "done" });
    expect(done).to.deep.equal(["dlv_1", "dlv_2", "dlv_3", "gave up 2"]);
  });
});

describe("words of people", () => {
  const said = (word: InboundWord | null, second: number) =>
    inboundMessage({
      providerId: `p-${second}`,
      address: "ada@example.com",
      at: new Date(noon.getTime() + second * 1_000),
      word,
      content: saying("text", word),
    });

  it("are followed in the order in which they were said", async () => {
    const { fromPost, done } = given({
      content: { inbound: [said("start", 3), said("stop", 1), said("help", 2), said(null, 4)] },
    });
    await fromPost();
    expect(done.slice(0, 2)).to.deep.equal(["carrier_opt_out ada@example.com", "lifted ada@example.com"]);
  });

  it("are followed once, however often they come", async () => {
    const { fromPost, done } = given({ content: { inbound: [said("start", 1)] } });
    await fromPost();
    await fromPost({ isRepeated: true });
    expect(done).to.deep.equal(["lifted ada@example.com", "received p-1", "received p-1"]);
  });

  it("are followed again when it is not known that they were", async () => {
    let [calls, broken] = [0, true];
    const lift = async () => {
      calls++;
      if (broken) throw new Unavailable("MongoDB");
    };
    const suppressor = { suppress: async () => undefined, lift };
    const { fromPost } = given({ content: { inbound: [said("start", 1)] }, suppressor });
    expect(await fromPost().catch((error: unknown) => error)).to.be.instanceOf(Unavailable);
    broken = false;
    await fromPost();
    expect(calls).to.equal(2);
  });

  it("open a session on WhatsApp, whatever they say", async () => {
    const inbound = [said(null, 1), said("stop", 2)];
    const { fromPost, done } = given({ channel: "whatsapp", content: { inbound } });
    await fromPost();
    const who = "ada@example.com";
    const received = ["received p-1", "received p-2"];
    expect(done).to.deep.equal([`carrier_opt_out ${who}`, ...received, `opened ${who}`, `opened ${who}`]);
  });

  const words: [string, InboundWord | null][] = [
    ["STOP", "stop"],
    [" stop\n", "stop"],
    ["Stop all", "stop"],
    ["OPT-OUT", "stop"],
    ["Arret", "stop"],
    ["td", "stop"],
    ["UNSTOP", "start"],
    ["yes", "start"],
    ["Info", "help"],
    ["please stop", null],
    ["stop it", null],
    ["constructor", null],
    ["", null],
  ];
  for (const [text, word] of words)
    it(`are whole messages: ${JSON.stringify(text)} is ${word ?? "none"}`, () => expect(wordOf(text)).to.equal(word));
});
