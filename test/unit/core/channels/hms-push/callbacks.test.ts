import { expect } from "chai";
import { hms } from "#core/channels/hms-push/callbacks/hms.ts";
import { UnreadableCallback } from "#core/channels/kit/callbacks.ts";
import { hmsReceipt } from "../../../../../dev/simulators/hms.ts";

const now = new Date("2026-11-21T08:00:00Z");
const account = { callback_user: "herald", callback_key: "a secret" };

const signed = ({ at = now, user = "herald", key = "a secret" } = {}): string =>
  hmsReceipt({ user, key }, [], at).headers["x-huawei-callback-id"];

const verdict = (given: string | null, of: typeof account | Record<keyof typeof account, null> = account) =>
  hms.verify({ method: "POST", part: "", url: "", header: () => given, body: Buffer.from("{}") }, { account: of, now });

describe("a receipt of Push Kit", () => {
  it("is taken with the signature of the account, and answered as Huawei wants it", () => {
    const reply = { contentType: "application/json", text: '{"errno":"0","errmsg":"success"}' };
    expect(verdict(signed())).to.deep.include({ kind: "queued", reply });
    expect(verdict(signed().replaceAll(" ", ""))).to.include({ kind: "queued" });
  });

  const forged = [
    { it: "no signature", header: null },
    { it: "another key", header: signed({ key: "other" }) },
    { it: "another user", header: signed({ user: "other" }) },
    { it: "an altered nonce", header: signed().replace(/nonce=./, "nonce=x") },
    { it: "an instant of long ago", header: signed({ at: new Date(now.getTime() - 601_000) }) },
    { it: "no instant", header: signed().replace(/timestamp=\d+/, "timestamp=x") },
    { it: "no sense", header: "=;value;;timestamp==" },
  ];
  for (const { it: what, header } of forged)
    it(`is refused with ${what}`, () => {
      expect(verdict(header)).to.deep.equal({ kind: "refused" });
    });

  it("says its signature, which does not cover the body, for as long as that is good", () => {
    const header = signed();
    const { once } = { once: undefined, ...verdict(header) };
    expect(once).to.deep.include({ until: new Date(now.getTime() + 600_000) });
    expect(once).to.have.property("signature", /value=(.+)/.exec(header)?.[1]);
  });

  it("is refused by an account that has set no user and key", () => {
    expect(verdict(signed(), { callback_user: null, callback_key: null })).to.deep.equal({ kind: "refused" });
  });
});

const read = (body: unknown) =>
  hms.read({
    part: "",
    url: "",
    contentType: "application/json",
    receivedAt: now,
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  });

describe("the statuses of a receipt of Push Kit", () => {
  it("are read as it posts them", () => {
    const statuses = [
      { biTag: "dlv_1", token: "one", status: 0 },
      { biTag: "dlv_2", token: "two", status: 2 },
    ];
    const { receipts } = read(hmsReceipt({ user: "herald", key: "a secret" }, statuses, now).body);
    expect(receipts).to.containSubset([
      { deliveryId: "dlv_1", address: "one", at: now, kind: "delivered" },
      { deliveryId: "dlv_2", address: "two", at: now, kind: "failed" },
    ]);
  });

  const at = new Date(1_489_993_883_189);
  const common = { deliveryId: "dlv_1", providerId: "17", address: "token", at };
  const of = { biTag: "dlv_1", requestId: "17", token: "token" };

  it("are read in both versions", () => {
    const statuses = [
      { ...of, appid: "1", status: 0, timestamp: at.getTime() },
      { ...of, pushType: 0, deliveryStatus: { result: 0, timestamp: at.getTime() } },
    ];
    expect(read({ statuses }).receipts).to.deep.equal([
      { ...common, kind: "delivered" },
      { ...common, kind: "delivered" },
    ]);
  });

  for (const [status, code] of [
    [2, "TOKEN_UNREGISTERED"],
    [5, "TOKEN_INVALID"],
    [6, "PROVIDER_REJECTED"],
    [10, "PROVIDER_REJECTED"],
    [201, "PROVIDER_REJECTED"],
  ] as const)
    it(`say with ${status} that the push failed with ${code}`, () => {
      const [receipt] = read({ statuses: [{ ...of, status, timestamp: at.getTime() }] }).receipts;
      expect(receipt).to.include({ kind: "failed", code, providerCode: String(status) });
    });

  it("are left out when they name no delivery or no state, and are of now without an instant", () => {
    const statuses = [
      { ...of, biTag: "", status: 0 },
      { ...of, status: "0" },
      null,
      1,
      { ...of, status: 0, timestamp: 9e15 },
    ];
    expect(read({ statuses }).receipts).to.deep.equal([{ ...common, at: now, kind: "delivered" }]);
  });

  for (const body of ["", "[]", "null", '{"statuses":{}}'])
    it(`are not in ${body || "nothing"}`, () => {
      expect(() => read(body)).to.throw(UnreadableCallback);
    });
});
