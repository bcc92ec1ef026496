import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { type Callback, maxCallbackBytes } from "#core/channels/kit/callbacks.ts";
import { Unavailable, ValidationError } from "#core/errors.ts";
import { callbackBatch, callbackQueue } from "#core/queue/callbacks.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";

const callback = (body: string | Buffer = "{}"): Callback => ({
  part: "status",
  url: "https://herald.example/ingress/x/app_1/status?a=1",
  contentType: "application/json",
  receivedAt: new Date("2026-11-22T12:00:00Z"),
  body: Buffer.from(body),
});
const of = (tenantId: string, provider = "x") => ({ tenantId, appId: "app_1", provider });

const given = (publishText?: Publisher["publishText"]) => {
  const published: { subject: string; json: string; id: string | undefined }[] = [];
  const keep: Publisher["publishText"] = async (subject, json, options) => {
    published.push({ subject, json, id: options?.id });
    return "published";
  };
  const publisher = { publishText: publishText ?? keep };
  return { published, queue: callbackQueue({ publisher, subjects: { callbacks: (tenant) => `of.${tenant}` } }) };
};

describe("the queue of callbacks", () => {
  it("gives back what was put into it", async () => {
    const { queue, published } = given();
    await queue.keep(of("ten_1"), callback("ä \u0000 \ud83d\ude00"));
    await queue.keep(of("ten_1"), callback(Buffer.from([0xff, 0x00, 0xfe])));
    const read = published.map(({ json }) => callbackBatch(JSON.parse(json)).callbacks);
    expect(read).to.deep.equal([
      [{ ...of("ten_1"), callback: callback("ä \u0000 \ud83d\ude00") }],
      [{ ...of("ten_1"), callback: callback(Buffer.from([0xff, 0x00, 0xfe])) }],
    ]);
    expect(published[0]?.subject).to.equal("of.ten_1");
    expect(published[0]?.id).to.not.equal(published[1]?.id);
  });

  it("says what nobody has checked yet", async () => {
    const { queue, published } = given();
    await queue.keep(of("ten_1"), { ...callback(), isUnchecked: true });
    const read = published.flatMap(({ json }) => callbackBatch(JSON.parse(json)).callbacks);
    expect(read[0]?.callback.isUnchecked).to.equal(true);
  });

  it("has those of one tenant that come at the same time share a message", async () => {
    const { queue, published } = given();
    await Promise.all(["ten_1", "ten_2"].flatMap((id) => [1, 2, 3].map((n) => queue.keep(of(id), callback(`${n}`)))));
    const counts = published.map(({ subject, json }) => [subject, callbackBatch(JSON.parse(json)).callbacks.length]);
    const sum = (subject: string) =>
      counts.filter(([one]) => one === subject).reduce((all, [, count]) => all + Number(count), 0);
    expect([sum("of.ten_1"), sum("of.ten_2")]).to.deep.equal([3, 3]);
    expect(published.length).to.be.below(6);
  });

  it("makes no message larger than a tenant's share allows for", async () => {
    const { queue, published } = given();
    const large = randomBytes(90_000); // which deflating makes no smaller
    await Promise.all(Array.from({ length: 7 }, () => queue.keep(of("ten_1"), callback(large))));
    const read = published.flatMap(({ json }) => callbackBatch(JSON.parse(json)).callbacks);
    expect(read).to.have.length(7);
    for (const { json } of published) expect(json.length).to.be.below(262_144 + 1_000);
  });

  it("takes the largest body that providers send, as it deflates", async () => {
    const { queue, published } = given();
    const body = JSON.stringify({ statuses: Array.from({ length: 20_000 }, (_, n) => ({ id: n, status: "read" })) });
    await queue.keep(of("ten_1"), callback(body.padEnd(maxCallbackBytes, " ")));
    expect(callbackBatch(JSON.parse(published[0]?.json ?? "")).callbacks[0]?.callback.body).to.have.length(
      maxCallbackBytes,
    );
  });

  it("refuses one that nobody could inflate, however small it deflates", async () => {
    const { queue, published } = given();
    const [result] = await Promise.allSettled([queue.keep(of("ten_1"), callback("a".repeat(maxCallbackBytes + 1)))]);
    expect(result).to.have.nested.property("reason.details.limit_bytes", maxCallbackBytes);
    expect(published).to.deep.equal([]);
  });

  it("refuses one that does not, and no other", async () => {
    const { queue, published } = given();
    const results = await Promise.allSettled([
      queue.keep(of("ten_1"), callback(randomBytes(1_000_000))),
      queue.keep(of("ten_1"), callback()),
    ]);
    expect(results.map(({ status }) => status)).to.deep.equal(["rejected", "fulfilled"]);
    expect(published).to.have.length(1);
  });

  it("says when a tenant's share is full, and keeps those of others", async () => {
    const { queue } = given(async (subject) => (subject === "of.ten_1" ? "refused" : "published"));
    const results = await Promise.allSettled([
      queue.keep(of("ten_1"), callback()),
      queue.keep(of("ten_2"), callback()),
    ]);
    const [full, other] = results;
    expect(full?.status === "rejected" && full.reason).to.be.instanceOf(Unavailable);
    expect(other?.status).to.equal("fulfilled");
  });

  it("cannot read what it has not written", () => {
    for (const bad of [null, {}, [], { tenant_id: "ten_1", callbacks: [{}] }])
      expect(() => callbackBatch(bad)).to.throw(ValidationError);
  });
});
