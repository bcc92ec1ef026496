import { expect } from "chai";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { aSubscription, seed, testKeyRing } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import { deliveriesOf, post, type Sending, send, startMail, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const endsMs = 25_000;
const bounces = { domain: "bounces.shop.test", password: "correct horse" };

describe("a mail that was sent", () => {
  let sending: Sending;
  let api: SystemProgram;
  let mail: Simulator;
  let count = 0;

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    mail = await startMail(system);
    const password = keyRing(testKeyRing).seal(bounces.password, `apps/${system.app._id}/email.bounces.password`);
    const account = {
      "channels.email.tracking_url": "https://links.shop.test",
      "channels.email.bounces": { domain: bounces.domain, password },
    };
    await system.db.collection<AppRow>("apps").updateOne({ _id: system.app._id }, { $set: account });
    [api] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
  });

  after(async () => {
    await sending?.close();
    await mail?.stop();
  });

  /** Sends a mail to a new address, and reads it as it came. */
  const sent = async (content: object = { email_body: '<a href="https://shop.test/?a=1&amp;b=2">Go</a>' }) => {
    const { system } = sending;
    const address = `ann${++count}@example.test`;
    const row = aSubscription({ tenant_id: system.tenantId, app_id: system.app._id, channel: "email", token: address });
    await seed(system.db, { subscriptions: [row] });
    const target = { include_subscription_ids: [row._id], channels: ["email"] };
    const messageId = await send(system, api, { target, email_subject: "Hello", ...content });
    await system.ended(messageId, endsMs);
    const entry = mail.log.page().find((one) => one.address === address);
    const { html } = JSON.parse(entry?.body ?? "{}") as { html: string };
    const linkTo = (kind: string): string =>
      new RegExp(`https://links\\.shop\\.test(/${kind}/[\\w.-]+)`).exec(
        `${html} ${String(entry?.headers["list-unsubscribe"])}`,
      )?.[1] ?? "";
    return { messageId, row, html, linkTo, returnPath: String(entry?.headers["return-path"]) };
  };

  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${api.url}${path}`, { redirect: "manual", ...init });

  const delivery = async (messageId: string, status: DeliveryRow["status"]): Promise<DeliveryRow> => {
    const find = async () => (await deliveriesOf(sending.system, messageId))[0];
    await until(async () => (await find())?.status === status, endsMs);
    return (await find()) as DeliveryRow; // it was there a moment ago
  };

  it("tells that it was opened, and then that a link was used", async () => {
    const { messageId, linkTo } = await sent();
    const picture = await call(linkTo("o"), { headers: { "user-agent": "Thunderbird" } });
    expect(picture.headers.get("content-type")).to.equal("image/gif");
    expect(await delivery(messageId, "opened")).to.have.property("opened_at");
    const click = await call(linkTo("c"));
    expect(click.status).to.equal(302);
    expect(click.headers.get("location")).to.equal("https://shop.test/?a=1&b=2");
    expect(await delivery(messageId, "clicked")).to.include({ clicked_url: "https://shop.test/?a=1&b=2" });
  });

  it("is written in MJML as well, whose faults are refused by their lines", async () => {
    const section = (text: string) => `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`;
    const { html } = await sent({ email_mjml: `<mjml><mj-body>${section("<b>Hello</b>")}</mj-body></mjml>` });
    expect(html)
      .to.match(/<!doctype html>/i)
      .and.contain("<b>Hello</b>");
    const bad = {
      target: { all: true },
      email_subject: "Hello",
      email_mjml: "<mjml><mj-body>\n<mj-nope/></mj-body></mjml>",
    };
    const { status, body } = await post(sending.system, api, bad);
    expect(status).to.equal(400);
    expect(JSON.stringify(body)).to.contain("email_mjml").and.contain("line 2, column 1: Element mj-nope");
  });

  it("lets its reader leave by one click, and is not sent to them again", async () => {
    const { messageId, row, linkTo } = await sent();
    const page = await call(linkTo("u"));
    expect(await page.text()).to.contain('<form method="post">');
    const left = await call(linkTo("u"), {
      method: "POST",
      body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }),
    });
    expect(left.status).to.equal(200);
    expect(await delivery(messageId, "unsubscribed")).to.have.property("unsubscribed_at");
    const { system } = sending;
    const find = () => system.db.collection<SubscriptionRow>("subscriptions").findOne({ _id: row._id });
    await until(async () => (await find())?.status === "unsubscribed", endsMs);
    const entry = await system.db.collection("suppressions").findOne({ app_id: system.app._id, address: row.token });
    expect(entry).to.include({ reason: "unsubscribe", source: "one_click" });
  });

  it("comes back as a bounce from the mail server alone", async () => {
    const { messageId, row, returnPath } = await sent();
    const report = [
      `To: ${returnPath}`,
      "Content-Type: multipart/report; report-type=delivery-status; boundary=b",
      "",
      "--b",
      "Content-Type: message/delivery-status",
      "",
      "Reporting-MTA: dns; mx.test",
      "",
      `Final-Recipient: rfc822; ${row.token}`,
      "Action: failed",
      "Status: 5.1.1",
      "--b--",
    ].join("\r\n");
    const hand = (password: string): Promise<Response> =>
      call(`/ingress/mail/${sending.system.app._id}`, {
        method: "POST",
        body: report,
        headers: {
          authorization: `Basic ${Buffer.from(`bounce:${password}`).toString("base64")}`,
          "content-type": "message/rfc822",
        },
      });
    expect((await hand("wrong")).status).to.equal(403);
    expect((await hand(bounces.password)).status).to.equal(200);
    expect(await delivery(messageId, "bounced")).to.include({ bounce_type: "hard", error_code: "HARD_BOUNCE" });
  });

  it("has links that nobody else can make up, and shows nothing of them in the log", async () => {
    const { linkTo } = await sent();
    const forged = linkTo("c").replace(/[^.]+$/, Buffer.from("https://evil.test/").toString("base64url"));
    const reply = await call(forged);
    expect(reply.status).to.equal(404);
    expect(reply.headers.get("location")).to.equal(null);
    const log = JSON.stringify(await api.log());
    expect(log).to.contain("/c/{token}").and.not.contain(forged.slice(3));
  });
});
