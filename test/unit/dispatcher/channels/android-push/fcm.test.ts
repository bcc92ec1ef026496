import { expect } from "chai";
import { renderFcm } from "#core/channels/android-push/render.ts";
import type { Outcome } from "#core/domain/messages/outcome.ts";
import { startFcm } from "../../../../../dev/simulators/fcm.ts";
import type { Simulator } from "../../../../../dev/simulators/kit/control.ts";
import { type FcmAccount, fcm } from "../../../../../dispatcher/channels/android-push/fcm.ts";
import { http2Pool } from "../../../../../dispatcher/net/http2/pool.ts";
import { testCredentials } from "../../../../support/system/credentials.ts";

const { tls, fcm: account } = testCredentials();
const push = renderFcm({
  messageId: "msg_1",
  content: { contents: { en: "x" } },
  options: {},
  language: null,
  ttlSeconds: 60,
});

describe("fcm", () => {
  let simulator: Simulator;
  let nowMs: number;
  let grants: number;
  let close: () => Promise<void>;

  const given = (change: Partial<FcmAccount> = {}) => {
    const provider = fcm({
      account: { ...account, tokenUri: `${simulator.url}/token`, ...change },
      baseUrl: simulator.url,
      open: (options) => {
        const pool = http2Pool({ ca: tls.cert, ...options });
        const request: typeof pool.request = (asked) => {
          if (asked.path === "/token") grants++;
          return pool.request(asked);
        };
        return { ...pool, request };
      },
      clock: { now: () => new Date(nowMs) },
    });
    close = provider.close;
    return (n: number): Promise<Outcome> =>
      provider.send(
        push,
        { deliveryId: `dlv_${n}`, subscriptionId: "sub_1", address: `device-${n}:${"x".repeat(30)}` },
        new AbortController().signal,
      );
  };

  beforeEach(async () => {
    nowMs = Date.now();
    grants = 0;
    simulator = await startFcm({ port: 0, tls, accounts: [account], now: () => new Date(nowMs) });
  });

  afterEach(async () => {
    await close();
    await simulator.stop();
  });

  it("asks for one access token for many pushes at once, and renews it before it expires", async () => {
    const send = given();
    await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)));
    expect(grants).to.equal(1);
    nowMs += 3_400_000;
    expect((await send(21)).kind).to.equal("sent");
    expect(grants).to.equal(2);
    expect(simulator.log.counts().accepted).to.equal(21);
  });

  it("asks for a new access token once when FCM refuses the one it has", async () => {
    const send = given();
    await send(1);
    simulator.script({ answers: [{ status: 401, reason: "UNAUTHENTICATED", times: 1 }] });
    expect((await send(2)).kind).to.equal("sent");
    expect(grants).to.equal(2);
  });

  it("takes a second refusal as a set-up error", async () => {
    const send = given();
    simulator.script({ answers: [{ address_prefix: "device", status: 401, reason: "UNAUTHENTICATED" }] });
    expect(await send(1)).to.include({ kind: "config_error", code: "PROVIDER_AUTH" });
    expect(grants).to.equal(2);
  });

  it("does not ask for a new access token over Apple's or a browser's credentials", async () => {
    const send = given();
    simulator.script({ answers: [{ address_prefix: "device", status: 401, reason: "THIRD_PARTY_AUTH_ERROR" }] });
    expect((await send(1)).kind).to.equal("config_error");
    expect(grants).to.equal(1);
  });

  it("says that the account is wrong when it is refused an access token", async () => {
    const send = given({ clientEmail: "another@example.com" });
    expect(await send(1)).to.include({ kind: "config_error", code: "PROVIDER_AUTH" });
  });

  it("tries again later when access tokens cannot be had now", async () => {
    const send = given();
    simulator.script({ answers: [{ address_prefix: "oauth", status: 503, reason: "backend" }] });
    expect(await send(1)).to.include({ kind: "retry_at", code: "PROVIDER_UNAVAILABLE" });
  });

  it("says that a key cannot sign, without quoting it", async () => {
    const outcome = await given({ privateKeyPem: "secret words" })(1);
    expect(outcome).to.include({ kind: "config_error", code: "PROVIDER_AUTH" });
    expect(JSON.stringify(outcome)).not.to.contain("secret words");
    expect(grants).to.equal(0);
  });

  for (const tokenUri of [
    "https://internal.example/token",
    "http://oauth2.googleapis.com/token",
    "http://127.0.0.1:1/t",
    "x",
  ])
    it(`asks nothing of the token address ${tokenUri}`, async () => {
      expect((await given({ tokenUri })(1)).kind).to.equal("config_error");
      expect(grants).to.equal(0);
    });
});
