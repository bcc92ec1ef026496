import type { AddressInfo } from "node:net";
import { expect } from "chai";
import pino from "pino";
import { Registry } from "prom-client";
import { SMTPServer } from "smtp-server";
import { dayMs } from "#core/domain/durations.ts";
import { webhookMetrics } from "#core/runtime/metrics/webhooks.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { webhookFailures } from "#core/storage/webhooks/failures.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { selfSigned } from "../../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../../dev/simulators/kit/control.ts";
import { startSmtp } from "../../../../dev/simulators/smtp.ts";
import { type HealthCheckDeps, pass } from "../../../../dispatcher/webhooks/health/check.ts";
import { type OwnerMailsDeps, ownerMails } from "../../../../dispatcher/webhooks/health/owner-mails.ts";
import { planOf } from "../../../support/queries/plans.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { handClock, noon } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const tls = selfSigned();
const never = new AbortController().signal;

const aFailing = (over: Partial<WebhookRow> = {}): WebhookRow =>
  aWebhook({ status: "failing", failing_since: noon, last_failure_at: noon, failure_count: 10, ...over });

describe("the check of endpoints' health", () => {
  const db = testDatabase("webhook_health", [webhookCollection]);
  const endpoints = () => collectionOf<WebhookRow>(db(), webhookCollection);
  let smtp: Simulator;

  beforeEach(async () => {
    smtp = await startSmtp({ port: 0, tls });
    await endpoints().deleteMany({});
  });

  afterEach(() => smtp.stop());

  const given = (over: Partial<HealthCheckDeps> = {}, mails: Partial<OwnerMailsDeps> = {}) => {
    const clock = handClock();
    const lines: Record<string, unknown>[] = [];
    const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
    const announced: string[] = [];
    const asides: Date[] = [];
    const owner = ownerMails({
      server: { url: `${smtp.url}?tls.rejectUnauthorized=false`, from: "herald@example.com" },
      recipient: async () => "owner@example.com",
      appName: async () => "Shop",
      lastErrorClass: async () => "timeout",
      log,
      ...mails,
    });
    const deps: HealthCheckDeps = {
      failures: webhookFailures(db()),
      mail: owner.mail,
      endpoints: { announce: ({ _id }) => void announced.push(_id) },
      isOurs: () => true,
      isElsewhere: () => false,
      metrics: webhookMetrics(new Registry()),
      setAside: () => void asides.push(clock.now()),
      clock,
      log,
      ...over,
    };
    return { deps, clock, lines, announced, asides };
  };

  const stored = async (id = "whk_1") => {
    const row = await endpoints().findOne({ _id: id });
    if (row === null) throw new Error("there is no such endpoint");
    return row;
  };
  const insert = (...rows: WebhookRow[]) => endpoints().insertMany(rows);
  const subjects = () =>
    smtp.log.page().map(({ body }) => (body === "" ? "" : (JSON.parse(body) as { subject: string }).subject));
  const textOf = (n: number) => (JSON.parse(smtp.log.page()[n]?.body ?? "{}") as { text: string }).text;

  it("mails the owner at the change, after 7 days and when it disables after 14, each once", async () => {
    const { deps, clock, announced } = given();
    await insert(aFailing({ description: "Orders" }));
    for (let hour = 0; hour <= 15 * 24; hour += 6) {
      await pass(deps, never);
      clock.tick(6 * 3_600_000);
    }
    expect(subjects()).to.deep.equal([
      "Webhook is failing: Orders (Shop)",
      "Webhook has been failing for a week: Orders (Shop)",
      "Webhook was disabled: Orders (Shop)",
    ]);
    const row = await stored();
    expect(row).to.deep.include({
      status: "disabled",
      disabled_reason: "failing for 14 days",
      notified: "disabled",
    });
    expect(announced).to.deep.equal(["whk_1"]);
  });

  it("says what fails, since when, why, what comes next and what to do, but never the whole address", async () => {
    const { deps } = given();
    await insert(aFailing({ url: "https://hooks.example.com/in?token=t0psecret" }));
    await pass(deps, never);
    const text = textOf(0);
    for (const part of [
      'endpoint "hooks.example.com" (whk_1, at hooks.example.com) of your app Shop has been failing since 2026-11-20',
      "10 requests in a row have failed; none has ever succeeded.",
      "there was no whole answer in time (timeout)",
      "POST /v1/apps/app_1/webhooks/whk_1/recover",
    ].map((part) => part.replace("2026-11-20", noon.toISOString().slice(0, 10)))) {
      expect(text.replaceAll("\n", " ")).to.include(part);
    }
    expect(text).to.not.include("t0psecret");
  });

  it("mails the owner of an endpoint that said it is gone", async () => {
    const { deps } = given();
    await insert(aWebhook({ status: "disabled", disabled_reason: "gone", last_failure_at: noon }));
    await pass(deps, never);
    await pass(deps, never);
    expect(subjects()).to.deep.equal(["Webhook was disabled: hooks.example.com (Shop)"]);
    expect(textOf(0)).to.include("answered 410 Gone");
  });

  it("says nothing of an endpoint that its owner disabled", async () => {
    const { deps } = given();
    await insert(aWebhook({ status: "disabled", disabled_reason: "disabled by its owner" }));
    await pass(deps, never);
    expect(subjects()).to.deep.equal([]);
  });

  it("mails again about a new failure after a success", async () => {
    const { deps } = given();
    await insert(aFailing());
    await pass(deps, never);
    await endpoints().updateOne({}, { $set: { status: "active", failing_since: null, notified: null } });
    await pass(deps, never);
    await endpoints().updateOne({}, { $set: { status: "failing", failing_since: noon } });
    await pass(deps, never);
    expect(subjects()).to.have.length(2);
  });

  it("repeats a mail, with the same id, when it was killed before noting it", async () => {
    const { deps } = given();
    await insert(aFailing());
    const killed = { ...deps, failures: { ...deps.failures, noteNotice: () => Promise.reject(new Error("killed")) } };
    await pass(killed, never).catch(() => undefined);
    await pass(deps, never);
    await pass(deps, never);
    const keys = smtp.log.page().map(({ key }) => key);
    expect(keys).to.deep.equal([keys[0], keys[0]]);
  });

  it("tries again when the mail server is away, and disables all the same", async () => {
    const { deps, clock } = given();
    smtp.script({ refuse_connections: true });
    await insert(aFailing(), aFailing({ _id: "whk_2" }));
    clock.tick(14 * dayMs);
    await pass(deps, never);
    expect((await stored("whk_2")).status).to.equal("disabled");
    expect(subjects()).to.deep.equal([]);
    smtp.script({});
    await pass(deps, never);
    expect(subjects()).to.have.length(2);
  });

  it("goes on to others when one mailbox takes nothing now, and gives up one that never will", async () => {
    const { deps } = given(
      {},
      { recipient: async (tenant) => (tenant === "ten_1" ? "full@example.com" : `${tenant}@example.com`) },
    );
    smtp.script({
      answers: [
        { status: 452, reason: "4.2.2 mailbox full", address_prefix: "full@" },
        { status: 550, reason: "5.1.1 unknown", address_prefix: "ten_2@" },
      ],
    });
    await insert(
      aFailing(),
      aFailing({ _id: "whk_2", tenant_id: "ten_2" }),
      aFailing({ _id: "whk_3", tenant_id: "ten_3" }),
    );
    await pass(deps, never);
    const rows = await Promise.all(["whk_1", "whk_2", "whk_3"].map(stored));
    expect(rows.map(({ notified }) => notified)).to.deep.equal([null, "failing", "failing"]);
  });

  it("goes on to others when one endpoint cannot be looked after, which is counted", async () => {
    const { deps, asides, lines } = given({
      failures: {
        ...webhookFailures(db()),
        noteNotice: async (row, notice) => {
          if (row._id === "whk_1") throw new TypeError("no");
          await webhookFailures(db()).noteNotice(row, notice);
        },
      },
    });
    await insert(aFailing(), aFailing({ _id: "whk_2" }));
    await pass(deps, never);
    expect((await stored("whk_2")).notified).to.equal("failing");
    expect(asides).to.have.length(1);
    expect(lines.map(({ msg, endpoint }) => [msg, endpoint])).to.deep.include(["webhook_health.set_aside", "whk_1"]);
  });

  it("logs what nobody is mailed, without a mail server and without an address", async () => {
    const without = given({}, { server: null });
    await insert(aFailing());
    await pass(without.deps, never);
    await pass(without.deps, never);
    const nobody = given({}, { recipient: async () => null });
    await endpoints().updateOne({}, { $set: { notified: null } });
    await pass(nobody.deps, never);
    const logged = [...without.lines, ...nobody.lines].map(({ msg, reason }) => [msg, reason]);
    expect(logged).to.deep.equal([
      ["owner_mails.off", undefined],
      ["webhook.owner_not_mailed", "no mail server is set"],
      ["webhook.owner_not_mailed", "the tenant has no contact address"],
    ]);
  });

  it("never sends a password over a connection that cannot be encrypted", async () => {
    const logins: unknown[] = [];
    const plain = new SMTPServer({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth: (auth, _session, done) => {
        logins.push(auth);
        done(null, { user: "herald" });
      },
    });
    const listening = Promise.withResolvers<void>();
    plain.listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    const { port } = plain.server.address() as AddressInfo; // a TCP server's address is never a string
    const server = { url: `smtp://herald:s3cret@127.0.0.1:${port}`, from: "herald@example.com" };
    const { deps, lines } = given({}, { server });
    await insert(aFailing());
    await pass(deps, never);
    plain.close();
    expect(logins).to.deep.equal([]);
    expect((await stored()).notified).to.equal(null);
    expect(lines.at(-1)).to.include({ msg: "webhook.owner_not_mailed", code: "ETLS" });
    expect(JSON.stringify(lines)).to.not.include("s3cret");
  });

  it("leaves it to the process that is to check, and shows the states of all endpoints", async () => {
    const { deps } = given();
    await insert(aFailing(), aWebhook({ _id: "whk_2" }), aWebhook({ _id: "whk_3" }));
    await pass(deps, never);
    const values = async () => (await deps.metrics.webhookEndpoints.get()).values.map(({ value }) => value);
    expect(await values()).to.deep.equal([2, 1, 0]);
    await insert(aFailing({ _id: "whk_4" }));
    await pass({ ...deps, isOurs: () => false }, never);
    expect(await values(), "it stood still, and may have lost its turn").to.deep.equal([2, 1, 0]);
    await pass({ ...deps, isOurs: () => false, isElsewhere: () => true }, never);
    expect(await values()).to.deep.equal([]);
  });

  it("reads more failing endpoints than a page holds", async () => {
    const { deps, announced, clock } = given({}, { server: null });
    await insert(...Array.from({ length: 250 }, (_, n) => aFailing({ _id: `whk_${n}` })));
    clock.tick(14 * dayMs);
    await pass(deps, never);
    expect(new Set(announced).size).to.equal(250);
  });

  it("finds failing endpoints by an index, in order", async () => {
    await insert(...Array.from({ length: 3_000 }, (_, n) => aWebhook({ _id: `whk_${n}`, app_id: `app_${n}` })));
    const query = {
      collection: "webhooks",
      command: "find",
      filter: { status: "failing", _id: { $gt: "whk_1" } },
      sort: { _id: 1 },
      limit: 100,
    };
    const { scans } = await planOf(db(), query);
    expect(scans).to.deep.equal([]);
  });
});
