import { expect } from "chai";
import { ownReceipts } from "#core/channels/kit/own-receipts.ts";
import { NotFound, Unavailable } from "#core/errors.ts";
import type { LinkRow } from "#core/storage/links/links.ts";
import type { OutsideRequest } from "../../../../apiserver/http/outside.ts";
import { follow, type ShortLinkDeps } from "../../../../apiserver/links/short.ts";

const now = new Date("2026-11-22T12:00:00Z");
const code = "abcDEF12345";
const row: LinkRow = {
  _id: code,
  tenant_id: "ten_1",
  app_id: "app_1",
  message_id: "msg_1",
  delivery_id: "dlv_1",
  url: "https://shop.example/orders?id=1",
  created_at: now,
};

type KeepArguments = Parameters<ShortLinkDeps["keep"]>;

const links = (given: Partial<ShortLinkDeps> = {}) => {
  const kept: KeepArguments[] = [];
  const answer = follow({
    byCode: async (asked) => (asked === code ? row : null),
    keep: async (...one) => void kept.push(one),
    isFew: () => true,
    clock: { now: () => now },
    log: { warn: () => undefined },
    ...given,
  });
  const asked = (change: Partial<OutsideRequest> = {}): OutsideRequest => ({
    method: "GET",
    parts: [code],
    target: `/l/${code}`,
    header: () => null,
    ip: "192.0.2.1",
    body: async () => Buffer.alloc(0),
    signal: new AbortController().signal,
    ...change,
  });
  return { kept, ask: (change?: Partial<OutsideRequest>) => answer(asked(change)) };
};

describe("a short link", () => {
  it("leads on to what was sent, and records the click of its delivery", async () => {
    const { kept, ask } = links();
    const { status, headers } = await ask();
    expect(status).to.equal(302);
    expect(headers).to.include({ Location: row.url, "Cache-Control": "no-store, private" });
    const [[of, callback] = []] = kept;
    expect(of).to.deep.equal({ tenantId: "ten_1", appId: "app_1", provider: "own" });
    const { receipts } = ownReceipts.read(callback as KeepArguments[1]);
    expect(receipts[0]).to.deep.include({
      deliveryId: "dlv_1",
      kind: "clicked",
      machine: false,
      url: row.url,
      at: now,
    });
  });

  it("tells a program that shows a preview from a person", async () => {
    const { kept, ask } = links();
    await ask({ header: (name) => (name === "user-agent" ? "facebookexternalhit/1.1 Facebot Twitterbot/1.0" : null) });
    expect(ownReceipts.read(kept[0]?.[1] as KeepArguments[1]).receipts[0]).to.include({
      kind: "clicked",
      machine: true,
    });
  });

  for (const [name, change] of [
    ["is asked for by its head", { method: "HEAD" }],
    ["is asked for too often", {}],
  ] as const) {
    it(`leads on and records nothing when it ${name}`, async () => {
      const { kept, ask } = links({ isFew: () => name !== "is asked for too often" });
      expect((await ask(change)).status).to.equal(302);
      expect(kept).to.deep.equal([]);
    });
  }

  it("leads on although the click cannot be recorded", async () => {
    const { ask } = links({
      keep: async () => {
        throw new Unavailable("JetStream");
      },
    });
    expect((await ask()).status).to.equal(302);
  });

  for (const change of [{ parts: ["12345678901"] }, { parts: ["x"] }, { parts: [code, "x"] }, { method: "POST" }]) {
    it(`leads nowhere with ${JSON.stringify(change)}`, async () => {
      const { kept, ask } = links();
      expect(await ask(change).catch((error: unknown) => error)).to.be.instanceOf(NotFound);
      expect(kept).to.deep.equal([]);
    });
  }
});
