import { expect } from "chai";
import { type HmsPush, renderHms } from "#core/channels/hms-push/render.ts";
import { NotBegun } from "#core/domain/messages/outcome.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import { startHms } from "../../../../../dev/simulators/hms.ts";
import type { Simulator } from "../../../../../dev/simulators/kit/control.ts";
import { type HmsAccount, hms } from "../../../../../dispatcher/channels/hms-push/hms.ts";
import { http2Pool } from "../../../../../dispatcher/net/http2/pool.ts";
import { testCredentials } from "../../../../support/system/credentials.ts";

const { tls, hms: account } = testCredentials();
const text = { headings: { en: "t" }, contents: { en: "x" } };
const aPush = (content: Content = text): HmsPush =>
  renderHms({ messageId: "msg_1", content, options: {}, language: null, ttlSeconds: 60 }, "com.example.Main");
const push = aPush();

describe("hms", () => {
  let simulator: Simulator;
  let nowMs: number;
  let asked: { grants: number; sends: number };
  let close: () => Promise<void>;

  const given = (change: Partial<HmsAccount> = {}, onSend: () => void = () => {}) => {
    const provider = hms({
      account: { ...account, hasReceipts: false, ...change },
      urls: { push: simulator.url, oauth: simulator.url },
      open: (options) => {
        const pool = http2Pool({ ca: tls.cert, ...options });
        const request: typeof pool.request = (one) => {
          if (one.path.startsWith("/oauth2")) asked.grants++;
          else {
            asked.sends++;
            onSend();
          }
          return pool.request(one);
        };
        return { ...pool, request };
      },
      clock: { now: () => new Date(nowMs) },
    });
    close = provider.close;
    const never = new AbortController().signal;
    return (
      n: number,
      {
        of = push,
        badge,
        signal = never,
        isOver,
      }: { of?: HmsPush; badge?: number; signal?: AbortSignal; isOver?: () => boolean } = {},
    ) => {
      const address = `device-${String(n).padStart(4, "0")}-${"x".repeat(110)}`;
      const to = {
        deliveryId: `dlv_${n}`,
        subscriptionId: "sub_1",
        address,
        ...(badge === undefined ? {} : { badge }),
      };
      return provider.send(of, to, signal, isOver);
    };
  };
  const many = <T>(count: number, fn: (n: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, n) => fn(n)));

  beforeEach(async () => {
    nowMs = Date.now();
    asked = { grants: 0, sends: 0 };
    simulator = await startHms({ port: 0, tls, account, now: () => new Date(nowMs) });
  });

  afterEach(async () => {
    await close();
    await simulator.stop();
  });

  it("sends one request to the recipients of a push that are given at once", async () => {
    const send = given();
    const outcomes = await many(64, (n) => send(n));
    expect(outcomes.filter(({ kind }) => kind !== "sent")).to.deep.equal([]);
    expect(asked.sends).to.equal(1);
    expect(simulator.log.counts()).to.include({ accepted: 64, addresses: 64, repeated_keys: 0 });
  });

  it("sends a request to each recipient, with the id of the delivery, when Push Kit is to report about it", async () => {
    const send = given({ hasReceipts: true });
    await many(3, (n) => send(n));
    const tags = simulator.log.page().map(({ body }) => /"bi_tag":"(\w+)"/.exec(body)?.[1]);
    expect(tags).to.have.members(["dlv_0", "dlv_1", "dlv_2"]);
  });

  it("sends as many requests as its frames need, and each recipient in one of them", async () => {
    const send = given();
    await many(500, (n) => send(n));
    expect(asked.sends).to.be.within(4, 6);
    expect(simulator.log.counts()).to.include({ accepted: 500, addresses: 500 });
  });

  it("keeps apart what is not the same: pushes, badges that are counted, and those who can be cut off", async () => {
    const send = given();
    const adding = aPush({ ...text, ios_badge_type: "Increase" });
    const other = new AbortController().signal;
    await Promise.all([
      send(1),
      send(2),
      send(3, { of: adding, badge: 4 }),
      send(4, { of: adding, badge: 5 }),
      send(5, { signal: other }),
    ]);
    expect(asked.sends).to.equal(4);
    const badges = simulator.log.page().map(({ body }) => /"set_num":(\d+)/.exec(body)?.[1]);
    expect(badges).to.have.members(["4", "5", undefined, undefined, undefined]);
  });

  it("leaves out who is over by the time of the request, and sends it to the others", async () => {
    const send = given();
    let isOver = false;
    const sent = [1, 2, 3].map((n) => send(n, { isOver: () => n === 2 && isOver }));
    isOver = true;
    const results = await Promise.allSettled(sent);
    expect(results.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).to.have.property("reason").that.is.instanceOf(NotBegun);
    expect(asked.sends).to.equal(1);
    expect(simulator.log.counts()).to.include({ accepted: 2, addresses: 2 });
  });

  it("leaves out who is over while the request waits for its turn", async () => {
    let isOver = false;
    const send = given({}, () => {
      isOver = true;
    });
    const results = await Promise.allSettled([1, 2, 3].map((n) => send(n, { isOver: () => n === 2 && isOver })));
    expect(results.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
    expect(simulator.log.counts()).to.include({ accepted: 2, addresses: 2 });
  });

  it("makes no request when all are over", async () => {
    const send = given();
    const results = await Promise.allSettled([1, 2].map((n) => send(n, { isOver: () => true })));
    expect(results.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    expect(asked).to.deep.equal({ grants: 0, sends: 0 });
  });

  it("invalidates the refused tokens of a request alone", async () => {
    const send = given();
    simulator.script({ answers: [{ address_prefix: "device-0002", status: 200, reason: "80100000" }] });
    const outcomes = await many(4, (n) => send(n));
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(["sent", "sent", "token_invalid", "sent"]);
    expect(asked.sends).to.equal(1);
  });

  it("invalidates all when none of them is a token of the app", async () => {
    const send = given();
    simulator.script({ answers: [{ status: 200, reason: "80100000" }] });
    const outcomes = await many(3, (n) => send(n));
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(Array(3).fill("token_invalid"));
  });

  it("asks for one access token for many pushes at once, and renews it before it expires", async () => {
    const send = given();
    await many(20, (n) => send(n, { of: aPush() }));
    expect(asked).to.deep.equal({ grants: 1, sends: 20 });
    nowMs += 3_400_000;
    expect((await send(21)).kind).to.equal("sent");
    expect(asked.grants).to.equal(2);
  });

  for (const code of ["80200003", "80200001"])
    it(`asks for a new access token once when Push Kit answers ${code}, and sends each recipient once`, async () => {
      const send = given();
      await send(100);
      simulator.script({ answers: [{ status: 401, reason: code, times: 1 }] });
      const outcomes = await many(10, (n) => send(n));
      expect(outcomes.every(({ kind }) => kind === "sent")).to.equal(true);
      expect(asked).to.deep.equal({ grants: 2, sends: 3 });
      expect(simulator.log.counts()).to.include({ accepted: 11, repeated_keys: 0 });
    });

  it("takes a second refusal as a set-up error", async () => {
    const send = given();
    simulator.script({ answers: [{ address_prefix: "device", status: 401, reason: "80200003" }] });
    expect(await send(1)).to.include({ kind: "config_error", code: "PROVIDER_AUTH" });
    expect(asked.grants).to.equal(2);
  });

  it("says that the account is wrong when it is refused an access token, without its secret", async () => {
    const outcome = await given({ clientSecret: "wrong words" })(1);
    expect(outcome).to.include({ kind: "config_error", code: "PROVIDER_AUTH" });
    expect(JSON.stringify(outcome)).not.to.contain("wrong words");
    expect(asked.sends).to.equal(0);
  });

  it("tries again later when access tokens cannot be had now", async () => {
    const send = given();
    simulator.script({ answers: [{ address_prefix: "oauth", status: 503, reason: "busy" }] });
    expect(await send(1)).to.include({ kind: "retry_at", code: "PROVIDER_UNAVAILABLE" });
  });

  it("is uncertain of all recipients of a request whose answer was lost", async () => {
    const send = given();
    await send(100);
    simulator.script({ reset_every: 1 });
    const outcomes = await many(3, (n) => send(n));
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(Array(3).fill("uncertain"));
  });
});
