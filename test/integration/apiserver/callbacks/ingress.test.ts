import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import { timings } from "#core/domain/timing.ts";
import { callbackBatch } from "#core/queue/callbacks.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { callbackBatchesPerTenant, callbackStream } from "#core/queue/jetstream/topology.ts";
import { subjects } from "#core/queue/subjects.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { useSite } from "../../../support/api/site.ts";
import { type Signed, sendgridKeys, signedMailgun } from "../../../support/callbacks/signed.ts";
import { allAccounts, seedTenant, testKeyRing } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";

describe("where providers call", () => {
  const { site, tenant } = useSite();
  const keys = sendgridKeys();
  let other: Awaited<ReturnType<typeof seedTenant>>;
  let nats: Nats;
  const stream = () => callbackStream(site.name, timings.short);

  before(async () => {
    nats = await connectNats({ url: site.servers.natsUrl, name: site.name });
    await ensureStream(nats.jsm, stream());
    other = await seedTenant(site.db);
    for (const { app } of [tenant, other]) {
      const signing_key = keyRing(testKeyRing).seal("key-1", `apps/${app._id}/email.mailgun.signing_key`);
      const tells = { sendgrid: { public_key: keys.publicKey }, mailgun: { signing_key } };
      const email = { ...allAccounts(app._id).email, ...tells };
      await site.db.collection<AppRow>("apps").updateOne({ _id: app._id }, { $set: { "channels.email": email } });
    }
  });
  afterEach(() => nats.jsm.streams.purge(stream().stream.name));
  after(async () => {
    await nats?.jsm.streams.delete(stream().stream.name);
    await nats?.close();
  });

  const call = async ({ headers, body }: Signed, path = `sendgrid/${tenant.app._id}`) => {
    const reply = await fetch(`${site.api.url}/ingress/${path}`, { method: "POST", headers, body });
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  };
  const signed = () =>
    keys.signed([{ event: "delivered", timestamp: 1, "herald-delivery": newId("delivery", new Date()) }]);
  const waiting = async (): Promise<number> => (await nats.jsm.streams.info(stream().stream.name)).state.messages;
  const codeOf = ({ text }: { text: string }) => (JSON.parse(text) as { error: { code: string } }).error.code;

  it("keeps what is signed as it came, and answers at once", async () => {
    const given = signed();
    expect(await call(given)).to.include({ status: 200, text: "" });
    const stored = await nats.jsm.streams.getMessage(stream().stream.name, {
      last_by_subj: subjects(site.name).callbacks(tenant.tenant._id),
    });
    const { callbacks } = callbackBatch(stored?.json());
    expect(callbacks).to.have.length(1);
    expect(callbacks[0]).to.deep.include({ tenantId: tenant.tenant._id, appId: tenant.app._id, provider: "sendgrid" });
    expect(callbacks[0]?.callback.body.toString()).to.equal(given.body);
  });

  it("keeps those that come at once in fewer messages of the stream, each of them", async () => {
    const replies = await Promise.all(Array.from({ length: 200 }, () => call(signed())));
    expect(replies.every(({ status }) => status === 200)).to.equal(true);
    expect(await waiting()).to.be.within(1, 199);
  });

  it("refuses what was forged or altered, and keeps nothing of it", async () => {
    const forged = sendgridKeys().signed([{ event: "delivered" }]);
    const { headers, body } = signed();
    for (const bad of [forged, { headers, body: body.replace("delivered", "bounce") }, { headers: {}, body }]) {
      const reply = await call(bad);
      expect([reply.status, codeOf(reply)]).to.deep.equal([403, "HS_FORBIDDEN"]);
    }
    expect(await waiting()).to.equal(0);
  });

  it("takes one event for each signature of Mailgun, which does not cover it, however often that comes", async () => {
    const [first, second] = ["delivered", "failed"].map((event) => signedMailgun({ event }, { key: "key-1" }));
    const { signature } = JSON.parse(first?.body ?? "") as { signature: object };
    const replayed = {
      headers: first?.headers ?? {},
      body: JSON.stringify({ ...JSON.parse(second?.body ?? ""), signature }),
    };
    const statusOf = async (given: Signed | undefined, app = tenant.app) =>
      given && (await call(given, `mailgun/${app._id}`)).status;
    expect(await Promise.all([first, first].map((given) => statusOf(given)))).to.deep.equal([200, 200]);
    expect(await statusOf(replayed)).to.equal(403);
    expect(await statusOf(first)).to.equal(200);
    expect(await statusOf(second)).to.equal(200);
    expect(await statusOf(replayed, other.app), "at another app that has the same key").to.equal(403);
    expect(await statusOf(first, other.app), "one that both are told").to.equal(200);
    expect(await waiting()).to.be.within(1, 5);
  });

  it("has callbacks that come at once under one signature keep but one body", async () => {
    const { headers, body } = signedMailgun({ event: "delivered" }, { key: "key-1" });
    const bodies = Array.from({ length: 20 }, (_, n) => body.replace("delivered", `delivered${n}`));
    const replies = await Promise.all(bodies.map((one) => call({ headers, body: one }, `mailgun/${tenant.app._id}`)));
    expect(replies.filter(({ status }) => status === 200)).to.have.length(1);
  });

  it("knows nobody else", async () => {
    for (const path of [
      `sendgrid/${newId("app", new Date())}`,
      `none/${tenant.app._id}`,
      `ses/${tenant.app._id}`,
      "sendgrid",
      `own/${tenant.app._id}`,
    ]) {
      const reply = await call(signed(), path);
      expect([path, reply.status, codeOf(reply)]).to.deep.equal([path, 404, "HS_NOT_FOUND"]);
    }
  });

  it("takes no body that is too large", async () => {
    const reply = await call({ ...signed(), body: "x".repeat(3 * 1024 * 1024 + 1) }).catch(() => null);
    if (reply !== null) expect([reply.status, codeOf(reply)]).to.deep.equal([413, "HS_PAYLOAD_TOO_LARGE"]);
    expect(await waiting()).to.equal(0);
  });

  it("has providers come again once a tenant has its share of the queue, and takes those of others", async () => {
    const subject = subjects(site.name).callbacks(tenant.tenant._id);
    for (let n = 0; n < callbackBatchesPerTenant; n++) nats.nc.publish(subject, "{}");
    await nats.nc.flush();
    await until(async () => (await waiting()) === callbackBatchesPerTenant);
    const reply = await call(signed());
    expect([reply.status, reply.headers.get("retry-after")]).to.deep.equal([503, "1"]);
    expect((await call(signed(), `sendgrid/${other.app._id}`)).status).to.equal(200);
  });
});
