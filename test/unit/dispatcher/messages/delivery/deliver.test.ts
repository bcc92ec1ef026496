import { expect } from "chai";
import { NotBegun, type Outcome } from "#core/domain/messages/outcome.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Senders } from "../../../../../dispatcher/channels/registry.ts";
import { deliveryIdOf } from "../../../../../dispatcher/messages/delivery/delivery-row.ts";
import { unsavedWindow } from "../../../../../dispatcher/messages/delivery/window.ts";
import { aChunk, aLease, aMessage, anApp, aSubscription, handClock, noon } from "../../../../support/rows/work.ts";
import { until } from "../../../../support/until.ts";
import { aSender, given, type Reads, work } from "./run.ts";

const storedDelivery = (subscriptionId: string): DeliveryRow => ({
  _id: deliveryIdOf("msg_1", subscriptionId),
  message_id: "msg_1",
  tenant_id: "ten_1",
  app_id: "app_1",
  subscription_id: subscriptionId,
  user_id: "usr_1",
  channel: "ios_push",
  address_masked: "•••aaaaaaaa",
  status: "sent",
  position: "0",
  attempts: 1,
  created_at: noon,
  updated_at: noon,
});

describe("deliver", () => {
  it("sends to each recipient once", async () => {
    const { run, sent } = given();
    await run(work(["sub_1", "sub_2", "sub_3"]), aLease());
    expect(sent).to.deep.equal(["sub_1", "sub_2", "sub_3"]);
  });

  it("begins with those whose origin has been reached before, so that they wait for no other", async () => {
    const tokens: Record<string, string> = { sub_1: "new1", sub_2: "known2", sub_3: "new3", sub_4: "known4" };
    const load: Reads["load"] = async (ids) => ids.map((id) => aSubscription({ _id: id, token: tokens[id] ?? "" }));
    const { run, sent } = given({ load });
    await run(work(Object.keys(tokens)), aLease());
    expect(sent).to.deep.equal(["sub_2", "sub_4", "sub_1", "sub_3"]);
  });

  it("does not send again to those whom an interrupted run reached, and still counts them as stored", async () => {
    const { run, sent } = given({ existing: async () => [storedDelivery("sub_1")] });
    const delivered = await run(work(["sub_1", "sub_2"], aMessage(), { fence: 2 }), aLease());
    expect(sent).to.deep.equal(["sub_2"]);
    expect(delivered.stored.map((row) => row.subscription_id)).to.deep.equal(["sub_1", "sub_2"]);
    expect(delivered.fresh.map((row) => row.subscription_id)).to.deep.equal(["sub_2"]);
  });

  it("renders once for each language", async () => {
    const speaks: Record<string, string> = { sub_1: "de", sub_2: "de", sub_3: "fr" };
    const load: Reads["load"] = async (ids) =>
      ids.map((id) => aSubscription({ _id: id, language: speaks[id] ?? null }));
    const { run, languages } = given({ load });
    await run(work(["sub_1", "sub_2", "sub_3"]), aLease());
    expect(languages).to.deep.equal(["de", "fr"]);
  });

  it("asks for users' languages only where the text and the subscription leave it open", async () => {
    const asked: string[][] = [];
    const languages: Reads["languages"] = async (ids) => {
      asked.push([...ids]);
      return new Map([["usr_2", "it"]]);
    };
    const rows = [
      aSubscription({ _id: "sub_1", language: "de" }),
      aSubscription({ _id: "sub_2", user_id: "usr_2" }),
      aSubscription({ _id: "sub_3", user_id: "usr_2" }),
      aSubscription({ _id: "sub_4", user_id: "usr_4" }),
    ];
    const ids = rows.map(({ _id }) => _id);
    const plain = given({ load: async () => rows, languages });
    await plain.run(work(ids), aLease());
    expect([asked, plain.languages]).to.deep.equal([[], ["de", null]]);
    const translated = given({ load: async () => rows, languages });
    await translated.run(work(ids, aMessage({ content: { contents: { en: "Hi", it: "Ciao" } } })), aLease());
    expect([asked, translated.languages]).to.deep.equal([[["usr_2", "usr_4"]], ["de", "it", null]]);
  });

  const suppressions = [
    { it: "an invalid subscription", row: { status: "invalid" }, reason: "invalid_subscription", message: {} },
    { it: "an unsubscribed one", row: { status: "unsubscribed" }, reason: "unsubscribed", message: {} },
    {
      it: "an unsubscribed push even when e-mail may include them",
      row: { status: "unsubscribed" },
      reason: "unsubscribed",
      message: { options: { include_unsubscribed: true } },
    },
    {
      it: "one that is no test device any more",
      row: { test_device: false },
      reason: "not_test_device",
      message: { target: { all: true, test_devices_only: true } },
    },
  ] as const;
  for (const { it: what, row, reason, message } of suppressions) {
    it(`suppresses ${what} at the moment of sending`, async () => {
      const { run, sent } = given({ load: async () => [aSubscription(row)] });
      const { stored } = await run(work(["sub_1"], aMessage(message)), aLease());
      expect(sent).to.deep.equal([]);
      expect(stored[0]).to.include({ status: "suppressed", suppression_reason: reason });
    });
  }

  it("reaches an unsubscribed mail address when the message may include them", async () => {
    const row = aSubscription({ channel: "email", status: "unsubscribed", token: "a@b.example" });
    const { run, sent } = given({ load: async () => [row] });
    await run(work(["sub_1"], aMessage({ options: { include_unsubscribed: true } })), aLease());
    expect(sent).to.deep.equal(["sub_1"]);
  });

  it("keeps whom to try again apart from what is stored", async () => {
    const { run } = given({}, () => ({
      kind: "retry_at",
      at: noon,
      code: "PROVIDER_UNAVAILABLE",
      providerCode: null,
      reason: "busy",
    }));
    const delivered = await run(work(["sub_1"]), aLease());
    expect(delivered.stored).to.deep.equal([]);
    expect(delivered.again.map(({ subscriptionId }) => subscriptionId)).to.deep.equal(["sub_1"]);
  });

  it("tries again a push with a collapse id whose answer was lost, and no other", async () => {
    const lost: Outcome = { kind: "uncertain", reason: "reset" };
    const { run } = given({}, () => lost);
    const plain = await run(work(["sub_1"]), aLease());
    expect(plain.stored.map(({ uncertain }) => uncertain)).to.deep.equal([true]);
    const collapsing = await run(work(["sub_1"], aMessage({ options: { collapse_id: "order" } })), aLease());
    expect(collapsing.stored).to.deep.equal([]);
    expect(collapsing.again).to.containSubset([{ subscriptionId: "sub_1", mayHaveArrived: true }]);
  });

  it("expires recipients of a retry whose ttl has passed, without calling the provider", async () => {
    const { run, sent } = given();
    const chunk = aChunk({ attempt: 1, dispatched_at: new Date(noon.getTime() - 61_000) });
    const delivered = await run({ chunk, message: aMessage({ options: { ttl: 60 } }), app: anApp() }, aLease());
    expect(sent).to.deep.equal([]);
    expect(delivered.stored[0]).to.include({ status: "expired", error_code: "EXPIRED", attempts: 1 });
  });

  it("expires recipients whose ttl ends while they wait for the pace of their account", async () => {
    const clock = handClock();
    const turn = async (): Promise<boolean> => {
      clock.tick(60_000);
      return true;
    };
    const sent: string[] = [];
    const sender: Senders["of"] = async () => ({
      ...aSender,
      capacity: { turn },
      prepare: () => async (to) => {
        sent.push(to.subscriptionId);
        return { kind: "sent", providerId: null };
      },
    });
    const delivered = await given({ sender, clock }).run(work(["sub_1"], aMessage({ options: { ttl: 60 } })), aLease());
    expect(sent).to.deep.equal([]);
    expect(delivered.stored).to.containSubset([{ status: "expired", error_code: "EXPIRED" }]);
  });

  it("names the subscriptions whose tokens are gone", async () => {
    const { run } = given({}, () => ({
      kind: "token_invalid",
      code: "TOKEN_UNREGISTERED",
      providerCode: "410",
      reason: "gone",
    }));
    const { invalid } = await run(work(["sub_1"]), aLease());
    expect(invalid.map(({ _id }) => _id)).to.deep.equal(["sub_1"]);
  });

  it("leaves addresses alone that the account cannot be believed about, and counts them", async () => {
    const { run } = given({}, () => ({
      kind: "token_invalid",
      code: "HARD_BOUNCE",
      providerCode: "550",
      reason: "no",
    }));
    const { invalid, doubted, stored } = await run(work(["sub_1", "sub_2"]), aLease());
    expect(invalid).to.deep.equal([]);
    expect(doubted).to.equal(2);
    expect(stored.map(({ status }) => status)).to.deep.equal(["failed", "failed"]);
  });

  it("names the addresses that a killed run found gone, unless they are others by now", async () => {
    const failed = { status: "failed", error_code: "TOKEN_UNREGISTERED", gone_since: noon } as const;
    const gone = { ...storedDelivery("sub_1"), ...failed };
    const changed = { ...gone, _id: "dlv_2", subscription_id: "sub_2", address_masked: "•••bbbbbbbb" };
    const { run, sent } = given({ existing: async () => [gone, changed, storedDelivery("sub_3")] });
    const { invalid } = await run(work(["sub_1", "sub_2", "sub_3"], aMessage(), { fence: 2 }), aLease());
    expect(invalid).to.deep.equal([{ _id: "sub_1", token: "a".repeat(64), since: noon }]);
    expect(sent).to.deep.equal([]);
  });

  it("begins no further recipient when it is halted, and finishes those under way", async () => {
    let isOver = false;
    const { run, sent } = given({}, () => {
      isOver = true;
      return { kind: "sent", providerId: null };
    });
    const ids = Array.from({ length: 200 }, (_, n) => `sub_${n}`);
    const delivered = await run(work(ids), aLease({ isOver: () => isOver }));
    expect(delivered.halted).to.equal(true);
    expect(delivered.stored).to.have.length(sent.length);
    expect(sent.length).to.be.below(ids.length);
  });

  it("leaves to the next run whom the provider did not get to before the lease was over", async () => {
    let isOver = false;
    const sender: Senders["of"] = async () => ({
      name: "apns",
      prepare: () => async (_to, _signal, isGivenUp) => {
        isOver = true; // while it waits for its turn at the provider
        if (isGivenUp()) throw new NotBegun();
        return { kind: "sent", providerId: null };
      },
      hasReached: () => true,
    });
    const delivered = await given({ sender }).run(work(["sub_1"]), aLease({ isOver: () => isOver }));
    expect(delivered).to.deep.equal({ stored: [], fresh: [], again: [], invalid: [], doubted: 0, halted: true });
  });

  it("asks before the first is handed over whether it may, and leaves out all when not", async () => {
    let asked = 0;
    const begin = async (): Promise<boolean> => ++asked === 0;
    const { sent, run } = given();
    expect(await run({ ...work(["sub_1"]), begin }, aLease())).to.deep.include({ stored: [], halted: true });
    expect([asked, sent]).to.deep.equal([1, []]);
  });

  for (const mayBegin of [true, false])
    it(`${mayBegin ? "leaves" : "does not leave"} somebody for the end of quiet hours when the message ${mayBegin ? "may begin" : "was cancelled"}`, async () => {
      const until = new Date("2026-03-02T06:00:00Z");
      const { sent, run } = given({ quietHours: async () => ({ untilOf: () => until, isDropped: false }) });
      const delivered = await run({ ...work(["sub_1"]), begin: async () => mayBegin }, aLease());
      expect(delivered.halted).to.equal(!mayBegin);
      expect((delivered.later ?? []).map(({ at }) => at)).to.deep.equal(mayBegin ? [until] : []);
      expect(sent).to.deep.equal([]);
    });

  it("has no slot for who waits for the pace of an account, and leaves them to the next run when that is given up", async () => {
    const window = unsavedWindow(10);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    let waiting = 0;
    const turn = (): Promise<boolean> => (waiting++, promise);
    const sender: Senders["of"] = async () => ({
      ...aSender,
      capacity: { turn },
      prepare: () => async () => ({ kind: "sent", providerId: null }),
    });
    const ids = Array.from({ length: 20 }, (_, n) => `sub_${n}`);
    const running = given({ sender, window }).run(work(ids), aLease());
    await until(() => waiting === 20);
    expect(window.taken()).to.equal(0);
    resolve(false);
    expect(await running).to.deep.include({ stored: [], halted: true });
  });

  it("waits no more for the pace of an account once the program stops", async () => {
    const [program, cut] = [new AbortController(), new AbortController()];
    const turn = (signal: AbortSignal) =>
      new Promise<boolean>((resolve) => signal.addEventListener("abort", () => resolve(false)));
    const sender: Senders["of"] = async () => ({
      ...aSender,
      capacity: { turn },
      prepare: () => async () => ({ kind: "sent", providerId: null }),
    });
    const running = given({ sender, stopping: program.signal, cut: cut.signal }).run(work(["sub_1"]), aLease());
    setImmediate(() => program.abort());
    expect(await running).to.deep.include({ stored: [], halted: true });
    expect(cut.signal.aborted, "the end of the grace").to.equal(false);
  });
});
