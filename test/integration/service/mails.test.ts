import { hash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { createTransport } from "nodemailer";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import { testDir } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { mailgunMail } from "../../support/callbacks/signed.ts";
import { testKeyRing } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { startMail } from "../../support/system/sending.ts";
import { type System, type SystemProgram, startSystem } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const endsMs = 30_000;
const key = "key-of-mails";

describe("mails, from what a person writes to what they read", () => {
  let system: System;
  let api: SystemProgram;
  let dispatcher: SystemProgram;
  let mail: Simulator;
  let filesDir = "";
  let smtpPort = 0;
  let count = 0;

  before(async () => {
    filesDir = await mkdtemp(join(testDir, "mails-"));
    const apns = { url: "https://127.0.0.1:1", credentials: testCredentials() };
    system = await startSystem({ ...(await testServers()), apns, env: { HERALD_FILES_DIR: filesDir } });
    mail = await startMail(system);
    const signing = keyRing(testKeyRing).seal(key, `apps/${system.app._id}/email.mailgun.signing_key`);
    const account = {
      "channels.email.mailgun": { signing_key: signing },
      "channels.email.from_address": "help@shop.test",
    };
    await system.db.collection<AppRow>("apps").updateOne({ _id: system.app._id }, { $set: account });
    [smtpPort = 0] = await freePorts(1);
    const smtp = { HERALD_SMTP_DOMAIN: "in.test", HERALD_SMTP_PORT: String(smtpPort) };
    [api, dispatcher] = await Promise.all([system.start("apiserver", smtp), system.start("dispatcher")]);
  });
  after(async () => {
    await system?.stop();
    await mail?.stop();
    await rm(filesDir, { recursive: true, force: true });
  });

  const post = async (mime: string | Buffer): Promise<Response> =>
    fetch(`${api.url}/ingress/mailgun/${system.app._id}/inbound/mime`, {
      method: "POST",
      body: mailgunMail(mime, { key }),
    });
  /** As the app's mail server hands it on. */
  const overSmtp = async (raw: string): Promise<string> => {
    const transport = createTransport({ host: "127.0.0.1", port: smtpPort, secure: false, ignoreTLS: true });
    const envelope = { from: "bounces@shop.test", to: `${system.app._id.toLowerCase()}@in.test` };
    return (await transport.sendMail({ envelope, raw })).response;
  };
  /** A mail of somebody's, with further lines of its head, and its body behind an empty one. */
  const aMail = ({ from, id, more = [], rest = "\r\nDoes it come in red?" }: Mime): string =>
    [`From: Ann <${from}>`, "To: help@shop.test", "Subject: Colours", `Message-ID: <${id}>`, ...more, rest].join(
      "\r\n",
    );
  const nobody = (): string => `ann${process.pid}-${++count}@example.test`;
  const messages = () => system.db.collection<ConversationMessageRow>("conversation_messages");
  const stored = async (id: string): Promise<ConversationMessageRow> => {
    const find = () => messages().findOne({ app_id: system.app._id, provider_message_id: id });
    await until(async () => (await find()) !== null, endsMs);
    return (await find()) ?? expect.fail("it is gone");
  };
  const conversations = (from: string) =>
    system.db.collection<ConversationRow>("conversations").find({ contact_address: from }).toArray();
  const call = async (path: string, body?: object) => {
    const reply = await fetch(`${api.url}/v1/apps/${system.app._id}/conversations${path && `/${path}`}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, any> }; // oxlint-disable-line typescript/no-explicit-any -- a reply
  };

  it("become a conversation, are answered in their thread, and go on in it", async () => {
    const from = nobody();
    expect((await post(aMail({ from, id: `1-${from}` }))).status).to.equal(200);
    const first = await stored(`1-${from}`);
    const answer = await call(`${first.conversation_id}/messages`, { text: "In red & blue.\nWhich one?" });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
    const answerOf = () => mail.log.page().find(({ address }) => address === from);
    await until(() => answerOf() !== undefined, endsMs);
    const { headers = {}, body = "", key: sentAs = "" } = answerOf() ?? {};
    expect(headers).to.include({ "in-reply-to": `<1-${from}>`, references: `<1-${from}>` });
    expect([headers["from"], headers["reply-to"]].join()).to.match(/help@shop.test.*,help@shop.test/);
    expect(headers).to.have.property("list-unsubscribe", "");
    expect(JSON.parse(body)).to.include({ subject: "Re: Colours", text: "In red & blue.\nWhich one?" });
    const quoting = "\r\nRed, please.\r\n\r\nOn Monday, Shop <help@shop.test> wrote:\r\n> Which one?\r\n";
    const more = [`In-Reply-To: ${sentAs}`, "Cc: Eve <eve@example.test>, adam@example.test"]; // shown as `cc`
    await post(aMail({ from, id: `2-${from}`, more, rest: quoting }));
    const second = await stored(`2-${from}`);
    expect(second).to.deep.include({
      conversation_id: first.conversation_id,
      text: "Red, please.",
      quoted_text: "On Monday, Shop <help@shop.test> wrote:\n> Which one?",
    });
    const [last] = (await call(`${first.conversation_id}/messages`)).body["data"];
    expect(last.cc).to.deep.equal(["eve@example.test", "adam@example.test"]);
    expect((await call(first.conversation_id)).body).to.deep.include({
      channel: "email",
      contact_address: from,
      contact_name: "Ann",
      sender_address: "help@shop.test",
      subject: "Colours",
      thread_key: `1-${from}`,
      can_reply: "free_form",
      message_count: 3,
    });
  });

  it("are answered with files, which are fetched again by whoever goes on with what was killed", async () => {
    const from = nobody();
    const picture = randomBytes(300_000);
    let asked = 0;
    const shop = createServer((_, response) => {
      if (asked++ > 0) response.writeHead(200, { "content-type": "image/png" }).end(picture); // the first waits for ever
    });
    await new Promise<void>((resolve) => shop.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/red.png`; // sound: of a TCP server
    await post(aMail({ from, id: `1-${from}` }));
    const { conversation_id: id } = await stored(`1-${from}`);
    const attachments = [{ url }, { url, filename: "Für Ann.png" }];
    const answer = await call(`${id}/messages`, { text: "This red", attachments });
    expect([answer.status, answer.body["type"]], JSON.stringify(answer.body)).to.deep.equal([202, "media"]);
    expect(answer.body["media"].map((one: object) => Object.values(one).slice(0, 5))).to.deep.equal([
      ["image", "stored", null, url, null],
      ["image", "stored", null, url, "Für Ann.png"],
    ]);
    await until(async () => asked > 0, endsMs);
    await dispatcher.kill();
    await dispatcher.restart();
    const received = () => mail.log.page().filter(({ address }) => address === from);
    await until(async () => received().length > 0, 60_000);
    const is = { contentType: "image/png", size: picture.length, sha256: hash("sha256", picture) };
    expect(JSON.parse(received()[0]?.body ?? "{}").files).to.deep.equal(
      ["red.png", "Für Ann.png"].map((filename) => ({ filename, ...is })),
    );
    await system.ended(String(answer.body["message_id"]), endsMs);
    expect(received()).to.have.length(1);
    shop.close().closeAllConnections();
  });

  it("come into the conversation that the app began, as answers to its first mail", async () => {
    const address = nobody();
    const message = { subject: "Your order", text: "It is here." };
    const begun = await call("", { channel: "email", contact_address: address, message });
    expect(begun.status, JSON.stringify(begun.body)).to.equal(201);
    const firstOf = () => mail.log.page().find((one) => one.address === address);
    await until(() => firstOf() !== undefined, endsMs);
    const { headers = {}, key: sentAs = "" } = firstOf() ?? {};
    expect(headers).to.include({ "in-reply-to": "", references: "" });
    expect(sentAs).to.equal(`<${begun.body["thread_key"]}>`);
    await post(aMail({ from: address, id: `1-${address}`, more: [`In-Reply-To: ${sentAs}`] }));
    const answer = await stored(`1-${address}`);
    expect(answer.conversation_id).to.equal(begun.body["id"]);
    const { body } = await call(answer.conversation_id);
    expect(body).to.deep.include({ status: "open", message_count: 2, subject: "Your order" });
    expect(body["waiting_since"]).to.be.a("string");
  });

  it("of one thread that come at once are in one conversation, those of another in another", async () => {
    const from = nobody();
    const more = [`References: <root-${from}>`];
    const mails = Array.from({ length: 20 }, (_, n) => aMail({ from, id: `${n}-${from}`, more }));
    await Promise.all([...mails, aMail({ from, id: `other-${from}` })].map(post));
    const counts = async () => (await conversations(from)).map((row) => row.message_count).sort((a, b) => a - b);
    await until(async () => (await counts()).join() === "1,20", endsMs);
  });

  it("are in their thread once, however often they come, and in nobody else's", async () => {
    const [from, other] = [nobody(), nobody()];
    await post(aMail({ from, id: `1-${from}` }));
    await post(aMail({ from, id: `1-${from}` }));
    const first = await stored(`1-${from}`);
    await post(aMail({ from: other, id: `1-${other}`, more: [`In-Reply-To: <1-${from}>`] }));
    const foreign = await stored(`1-${other}`);
    expect(foreign.conversation_id).not.to.equal(first.conversation_id);
    expect(await conversations(from)).to.have.lengthOf(1);
  });

  it("have their files in the store, also when they are too large for the queue", async () => {
    const from = nobody();
    const picture = randomBytes(700_000);
    const parts = [
      "--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nIt is gr\u00fcn",
      `--b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=red.png\r\nContent-Transfer-Encoding: base64\r\n\r\n${picture.toString("base64").replace(/.{76}/g, "$&\r\n")}`,
      "--b\r\nContent-Type: text/html\r\nContent-Disposition: attachment; filename=a.html\r\n\r\n<script>",
      "--b--\r\n",
    ];
    const mime = aMail({
      from,
      id: `1-${from}`,
      more: ["Content-Type: multipart/mixed; boundary=b"],
      rest: `\r\n${parts.join("\r\n")}`,
    });
    expect((await post(mime)).status).to.equal(200);
    const row = await stored(`1-${from}`);
    expect(row).to.include({ type: "media" });
    const { body } = await call(`${row.conversation_id}/messages`);
    const [shown] = body["data"] as { media: Record<string, unknown>[] }[];
    expect(shown?.media.map(({ filename, status, problem }) => [filename, status, problem])).to.deep.equal([
      ["red.png", "stored", null],
      ["a.html", "failed", "type_not_allowed"],
    ]);
    const { pathname, search } = new URL(String(shown?.media[0]?.["url"]));
    const file = await fetch(api.url + pathname + search);
    expect(Buffer.from(await file.arrayBuffer()).equals(picture)).to.equal(true);
  });

  it("open no conversation when a program sent them", async () => {
    const from = nobody();
    const absent = aMail({ from, id: `1-${from}`, more: ["Auto-Submitted: auto-replied"] });
    const bounce = aMail({ from, id: `2-${from}`, more: ["Return-Path: <>"] });
    for (const mime of [absent, bounce]) expect((await post(mime)).status).to.equal(200);
    await post(aMail({ from, id: `3-${from}` }));
    await stored(`3-${from}`);
    expect((await conversations(from)).map((row) => row.message_count)).to.deep.equal([1]);
  });

  it("are refused when they are more than anybody writes", async () => {
    const from = nobody();
    const many = aMail({ from, id: `1-${from}`, rest: `\r\n${"--b\r\n\r\nx\r\n".repeat(1_001)}` });
    expect(await (await post(many)).json()).to.have.nested.property("error.details.limit", "parts");
    const large = await post(aMail({ from, id: `2-${from}`, rest: `\r\n${"a".repeat(10_485_760)}` }));
    expect(large.status).to.equal(413);
    expect(await large.json()).to.have.nested.property("error.details.limit_bytes", 10_485_760);
    const forged = mailgunMail(aMail({ from, id: `3-${from}` }), { key: "another" });
    const url = `${api.url}/ingress/mailgun/${system.app._id}/inbound/mime`;
    expect((await fetch(url, { method: "POST", body: forged })).status).to.equal(403);
  });

  it("come over SMTP, too, with their files", async () => {
    const from = nobody();
    const large = randomBytes(200_000).toString("base64").replace(/.{76}/g, "$&\r\n");
    const picture = `--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n${large}`;
    const more = ["Content-Type: multipart/mixed; boundary=b"];
    const rest = `\r\n--b\r\n\r\nDoes it come in this red?\r\n${picture}\r\n--b--\r\n`;
    expect(await overSmtp(aMail({ from, id: `1-${from}`, more, rest }))).to.match(/^250/);
    expect(await overSmtp(aMail({ from, id: `2-${from}`, more: [`In-Reply-To: <1-${from}>`] }))).to.match(/^250/);
    const [first, second] = [await stored(`1-${from}`), await stored(`2-${from}`)];
    expect(first).to.include({ type: "media", text: "Does it come in this red?", provider: "smtp" });
    expect(second.conversation_id).to.equal(first.conversation_id);
    expect((await conversations(from)).map((row) => row.sender_address)).to.deep.equal(["help@shop.test"]);
  });

  it("over SMTP are there once when the apiserver is killed before it answered, as their sender comes again", async () => {
    const from = nobody();
    const mail = aMail({ from, id: `1-${from}` });
    const cut = Promise.all(Array.from({ length: 5 }, () => overSmtp(mail).catch(() => "cut off")));
    await api.kill();
    await cut;
    await api.restart();
    expect(await overSmtp(mail)).to.match(/^250/);
    await stored(`1-${from}`);
    await post(aMail({ from, id: `2-${from}`, more: [`References: <1-${from}>`] }));
    await stored(`2-${from}`);
    expect((await conversations(from)).map((row) => row.message_count)).to.deep.equal([2]);
  });

  it("are one message when they come 50 times at once", async () => {
    const from = nobody();
    const mail = aMail({ from, id: `1-${from}` });
    await Promise.all(Array.from({ length: 50 }, () => post(mail)));
    await stored(`1-${from}`);
    await post(aMail({ from, id: `2-${from}`, more: [`References: <1-${from}>`] }));
    await stored(`2-${from}`);
    expect((await conversations(from)).map((row) => row.message_count)).to.deep.equal([2]);
  });

  it("are 50 in one conversation when they come at once to three dispatchers, of which one is killed meanwhile", async () => {
    const from = nobody();
    await Promise.all([system.start("dispatcher"), system.start("dispatcher")]);
    const ids = Array.from({ length: 50 }, (_, n) => `${n}-${from}`);
    const posts = ids.map((id) => post(aMail({ from, id, more: [`References: <root-${from}>`] })));
    await Promise.race(posts);
    await dispatcher.kill();
    expect(new Set((await Promise.all(posts)).map(({ status }) => status))).to.deep.equal(new Set([200]));
    const kept = () => messages().countDocuments({ provider_message_id: { $in: [...ids] } });
    await until(async () => (await kept()) === ids.length, 60_000);
    expect((await conversations(from)).map((row) => row.message_count)).to.deep.equal([ids.length]);
  });
});

type Mime = { from: string; id: string; more?: string[]; rest?: string };
