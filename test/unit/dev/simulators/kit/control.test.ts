import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { ApnsPush } from "#core/channels/ios-push/push.ts";
import { renderApns } from "#core/channels/ios-push/render.ts";
import { systemClock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Provider } from "#core/domain/messages/outcome.ts";
import { startApns } from "../../../../../dev/simulators/apns.ts";
import type { Simulator } from "../../../../../dev/simulators/kit/control.ts";
import { type Control, startControl } from "../../../../../dev/simulators/kit/control.ts";
import { keptCredentials } from "../../../../../dev/simulators/kit/credentials.ts";
import type { ReceivedEntry } from "../../../../../dev/simulators/kit/received.ts";
import { apns } from "../../../../../dispatcher/channels/ios-push/apns.ts";
import { apnsTokens } from "../../../../../dispatcher/channels/ios-push/apns-tokens.ts";
import { http2Pool } from "../../../../../dispatcher/net/http2/pool.ts";
import { testCredentials } from "../../../../support/system/credentials.ts";

const { tls, apns: keys } = testCredentials();
const push = renderApns({
  messageId: "msg_1",
  content: { contents: { en: "x" } },
  options: {},
  language: null,
  ttlSeconds: 60,
});
const tokenOf = (n: number): string => n.toString(16).padStart(64, "0");

describe("the simulators' control API", () => {
  let simulator: Simulator;
  let control: Control;
  let provider: Provider<ApnsPush>;

  const send = (n: number, address = tokenOf(n)) =>
    provider.send(
      push,
      { deliveryId: derivedId("delivery", String(n)), subscriptionId: "s", address },
      new AbortController().signal,
    );
  const entries = async (query: string): Promise<(ReceivedEntry & { channel: string })[]> =>
    JSON.parse(await (await fetch(`${control.url}/received${query}`)).text());
  const counts = async (query: string): Promise<Record<string, Record<string, unknown>>> =>
    JSON.parse(await (await fetch(`${control.url}/counts${query}`)).text());

  beforeEach(async () => {
    simulator = await startApns({ port: 0, tls, keys: [keys] });
    control = await startControl(0, [simulator]);
    provider = apns({
      account: { ...keys, bundleId: "com.example.app" },
      baseUrl: simulator.url,
      open: (options) => http2Pool({ ca: tls.cert, ...options }),
      tokens: apnsTokens(systemClock),
      clock: systemClock,
    });
  });

  afterEach(async () => {
    await provider.close();
    await control.stop();
    await simulator.stop();
  });

  it("counts what was received, by address and by key, and names what came twice", async () => {
    await send(1);
    await send(2);
    await send(2);
    expect((await counts("?channel=ios_push")).ios_push).to.include({
      received: 3,
      accepted: 3,
      addresses: 2,
      keys: 2,
      repeated_keys: 1,
    });
    expect((await counts("?by=address")).ios_push).to.deep.equal({ [tokenOf(1)]: 1, [tokenOf(2)]: 2 });
  });

  it("gives the last entries in full, page by page, and forgets them on request", async () => {
    for (const n of [1, 2, 3]) await send(n);
    const [first] = await entries("?limit=1");
    expect(first).to.include({ channel: "ios_push", address: tokenOf(1), answer: "200" });
    const rest = await entries(`?since=${first?.seq}`);
    expect(rest.map(({ address }) => address)).to.deep.equal([tokenOf(2), tokenOf(3)]);
    await fetch(`${control.url}/received`, { method: "DELETE" });
    expect(await entries("")).to.deep.equal([]);
  });

  it("answers as its script says, to the addresses and as often as it says", async () => {
    const answers = [{ address_prefix: tokenOf(2).slice(0, 64), status: 410, reason: "Unregistered", times: 1 }];
    await fetch(`${control.url}/script`, {
      method: "POST",
      body: JSON.stringify({ channel: "ios_push", script: { answers } }),
    });
    const kinds = [await send(1), await send(2), await send(2)].map(({ kind }) => kind);
    expect(kinds).to.deep.equal(["sent", "token_invalid", "sent"]);
  });

  it("refuses a script for a channel that is not simulated", async () => {
    const response = await fetch(`${control.url}/script`, { method: "POST", body: JSON.stringify({ channel: "fax" }) });
    expect(response.status).to.equal(404);
  });

  it("refuses what the real service refuses", async () => {
    expect(await send(1, "not-hex")).to.include({ kind: "token_invalid", providerCode: "400 BadDeviceToken" });
    const large = renderApns({
      messageId: "msg_1",
      content: { contents: { en: "x".repeat(5000) } },
      options: {},
      language: null,
      ttlSeconds: 60,
    });
    const to = { deliveryId: "dlv_9", subscriptionId: "s", address: tokenOf(9) };
    expect(await provider.send(large, to, new AbortController().signal)).to.include({
      providerCode: "413 PayloadTooLarge",
    });
  });
});

describe("keptCredentials", () => {
  it("makes the accounts once and reads them again after a restart", () => {
    const dir = mkdtempSync(join(tmpdir(), "herald-credentials-"));
    const first = keptCredentials(dir);
    expect(keptCredentials(dir)).to.deep.equal(first);
    rmSync(dir, { recursive: true });
  });
});
