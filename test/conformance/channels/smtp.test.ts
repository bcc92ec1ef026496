import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { addressIn, bounceSigner } from "#core/channels/email/bounce-address.ts";
import { type LinkKind, readLink } from "#core/channels/email/links.ts";
import { renderEmail } from "#core/channels/email/render.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Recipient } from "#core/domain/messages/outcome.ts";
import { signer } from "#core/domain/signer.ts";
import { selfSigned } from "../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { startSmtp } from "../../../dev/simulators/smtp.ts";
import { type EncodedMail, encodedMail } from "../../../dispatcher/channels/email/mime-body.ts";
import { type SmtpAccount, smtp } from "../../../dispatcher/channels/email/smtp.ts";
import { rudeMailServer, sendHalfAMail } from "../../support/servers/mail-server.ts";
import { connectHere } from "../../support/servers/outgoing.ts";
import { providerSuite } from "./suite.ts";

const clock = { now: () => new Date() };
const tls = selfSigned();
const login = { username: "herald", password: "correct horse" };
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const publicKey = rsa.publicKey.export({ type: "spki", format: "pem" }).toString();
const dkim = { domain: "shop.test", selector: "s1", privateKey: rsa.privateKey };

const accountOf = ({ url }: Simulator, of: Partial<SmtpAccount> = {}): SmtpAccount => ({
  host: "127.0.0.1",
  port: Number(new URL(url).port),
  security: "starttls",
  login,
  ca: tls.cert,
  from: { name: "Shop", address: "news@shop.test" },
  dkim: null,
  links: null,
  bounces: null,
  ...of,
});

const start = () => startSmtp({ port: 0, tls, login, dkim: { "s1._domainkey.shop.test": publicKey } });

const content = {
  email_subject: "Grüße, and a subject that is long enough to be folded over more than one line of the header",
  email_body: "<p>Hello <b>you</b></p>",
  email_preheader: "Read on",
  email_reply_to_address: "help@shop.test",
};
const settings = { tracking: { opens: false, clicks: false }, transactionalCategories: [] };
const message = encodedMail(renderEmail({ content, options: {} }, settings));

const recipient = (n: number): Recipient => ({
  deliveryId: `dlv_${n}`,
  subscriptionId: `sub_${n}`,
  address: `user${n}@example.test`,
});

providerSuite<EncodedMail>({
  name: "smtp",
  start: async (sendTimeoutMs) => {
    const simulator = await start();
    return {
      provider: smtp({ account: accountOf(simulator), connect: connectHere, clock, timeoutMs: sendTimeoutMs }),
      refused: smtp({
        account: accountOf(simulator, { login: { ...login, password: "wrong" } }),
        connect: connectHere,
        clock,
        timeoutMs: sendTimeoutMs,
      }),
      simulator,
      push: message,
      recipient,
      answers: [
        { answer: { status: 421, reason: "4.3.2 shutting down" }, kind: "retry_at" },
        { answer: { status: 450, reason: "4.2.0 greylisted" }, kind: "retry_at" },
        { answer: { status: 451, reason: "DATA: 4.3.0 try again" }, kind: "retry_at" },
        { answer: { status: 452, reason: "4.2.2 over quota" }, kind: "retry_at" },
        { answer: { status: 530, reason: "MAIL: 5.7.0 login first" }, kind: "config_error" },
        { answer: { status: 550, reason: "5.1.1 no such user" }, kind: "token_invalid" },
        { answer: { status: 552, reason: "5.2.2 mailbox full" }, kind: "payload_error" },
        { answer: { status: 554, reason: "DATA: 5.7.1 looks like spam" }, kind: "payload_error" },
      ],
    };
  },
});

describe("a mail over SMTP", () => {
  let simulator: Simulator;
  const send = async (of: Partial<SmtpAccount> = {}, mail = message, to = recipient(1)) => {
    const provider = smtp({ account: accountOf(simulator, of), connect: connectHere, clock, timeoutMs: 3_000 });
    const outcome = await provider.send(mail, to, AbortSignal.timeout(60_000));
    await provider.close();
    return outcome;
  };
  const last = () => {
    const entry = simulator.log.page().at(-1);
    return { ...entry, mail: JSON.parse(entry?.body || "{}") as Record<string, string> };
  };

  beforeEach(async () => {
    simulator = await start();
  });
  afterEach(() => simulator.stop());

  it("arrives with subject, both bodies and every address", async () => {
    expect((await send()).kind).to.equal("sent");
    const { mail, headers } = last();
    expect(mail).to.include({ subject: message.subject, text: "Hello you", dkim: "none" });
    expect(mail["html"]).to.contain("<p>Hello <b>you</b></p>").and.contain("Read on");
    expect(headers).to.include({ from: '"Shop" <news@shop.test>', "reply-to": "help@shop.test" });
  });

  it("has a Message-ID that follows from its delivery, the same in every try", async () => {
    await send();
    await send();
    expect(simulator.log.page().map(({ key }) => key)).to.deep.equal(["<dlv_1@shop.test>", "<dlv_1@shop.test>"]);
  });

  it("has a Message-ID in ASCII, whatever the sender's domain", async () => {
    await send({}, { ...message, fromAddress: "ann@Bücher.test" });
    expect(last().headers).to.include({ "message-id": "<dlv_1@xn--bcher-kva.test>" });
  });

  it("comes from the sender that the content names", async () => {
    await send({}, { ...message, fromName: "Ann", fromAddress: "ann@other.test" });
    expect(last().headers).to.include({ from: '"Ann" <ann@other.test>', "message-id": "<dlv_1@other.test>" });
  });

  it("carries a DKIM signature that verifies", async () => {
    await send({ dkim });
    expect(last().mail["dkim"]).to.equal("valid");
  });

  describe("that is tracked", () => {
    const links = { base: "https://links.test", signer: signer([Buffer.alloc(32, 1)]), appId: derivedId("app", "1") };
    const bounces = { domain: "bounces.shop.test", sign: bounceSigner({ domain: "", password: "x" }).sign };
    const to = { ...recipient(1), deliveryId: derivedId("delivery", "1") };
    const body = '<p><a href="https://shop.test/?a=1&amp;b=2">Go</a> <a href="mailto:a@shop.test">write</a></p>';
    const tracked = encodedMail(
      renderEmail(
        { content: { ...content, email_body: body }, options: {} },
        { tracking: { opens: true, clicks: true }, transactionalCategories: [] },
      ),
    );
    const linkIn = (text: string | undefined, kind: LinkKind) => {
      const [, token = ""] =
        new RegExp(`https://links\\.test/${kind}/([\\w.-]+?)(\\.gif)?[")>]`).exec(text ?? "") ?? [];
      return readLink(links.signer, kind, token);
    };
    const about = { appId: links.appId, deliveryId: to.deliveryId };

    it("has links and a picture that tell its delivery, in both bodies", async () => {
      await send({ links }, tracked, to);
      const { html, text } = last().mail;
      expect(linkIn(html, "c")).to.deep.equal({ ...about, to: "https://shop.test/?a=1&b=2" });
      expect(linkIn(text, "c")).to.deep.equal({ ...about, to: "https://shop.test/?a=1&b=2" });
      expect(linkIn(html, "o")).to.deep.equal({ ...about, to: "" });
      expect(html).to.contain('href="mailto:a@shop.test"');
    });

    it("can be unsubscribed from by one click or by mail, both signed for", async () => {
      await send({ links, bounces, dkim }, tracked, to);
      const { headers = {}, mail } = last();
      const ways = String(headers["list-unsubscribe"]);
      expect(linkIn(ways, "u")).to.deep.equal({ ...about, to: to.subscriptionId });
      expect(ways).to.match(/^<https:[^>]+>, <mailto:unsub\+[0-9a-z]{56}@bounces\.shop\.test>$/);
      expect(headers["list-unsubscribe-post"]).to.equal("List-Unsubscribe=One-Click");
      expect(mail["dkim"]).to.equal("valid");
    });

    it("has no such headers when it is transactional", async () => {
      await send({ links, bounces }, { ...tracked, isTransactional: true }, to);
      expect(last().headers).to.include({ "list-unsubscribe": "", "list-unsubscribe-post": "" });
    });

    it("has a sender on its envelope that tells its delivery", async () => {
      await send({ links, bounces }, tracked, to);
      const found = addressIn(String(last().headers?.["return-path"]));
      expect(found).to.include({ purpose: "bounce", deliveryId: to.deliveryId });
      expect(last().headers).to.include({ dsn: `HDRS ${to.deliveryId}` });
    });

    it("is taken however it is set up", async () => {
      for (const account of [{}, { links }, { bounces }, { links, dkim }, { links, bounces, dkim }]) {
        expect((await send(account, tracked, to)).kind, Object.keys(account).join()).to.equal("sent");
      }
    });
  });

  it("has a DKIM signature that does not verify with another key", async () => {
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    await send({ dkim: { ...dkim, privateKey: other } });
    expect(last().mail["dkim"]).to.equal("invalid");
  });

  it("goes to one recipient even when the address looks like two", async () => {
    await send({}, message, { ...recipient(1), address: "a@x.test, b@y.test" });
    expect(simulator.log.counts().accepted).to.be.lessThan(2);
    expect([...simulator.log.tally("address").keys()]).not.to.include("b@y.test");
  });

  it("adds no header that is hidden in a name or a subject", async () => {
    await send({}, { ...message, subject: "Hi\r\nBcc: thief@x.test", fromName: "A\r\nX-Evil: 1" });
    expect(last().mail["subject"]).to.contain("Bcc: thief@x.test");
    expect(simulator.log.counts().accepted).to.equal(1);
  });

  const setUps: { it: string; of: Partial<SmtpAccount>; expected: Record<string, string> }[] = [
    {
      it: "a wrong password",
      of: { login: { username: "herald", password: "no" } },
      expected: { kind: "config_error", code: "PROVIDER_AUTH" },
    },
    {
      it: "a certificate that is not trusted",
      of: { ca: selfSigned().cert },
      expected: { kind: "config_error", code: "PROVIDER_REJECTED" },
    },
    { it: "a server that is not there", of: { port: 1 }, expected: { kind: "retry_at", code: "PROVIDER_UNAVAILABLE" } },
    {
      it: "a server that speaks no TLS at once",
      of: { security: "tls" },
      expected: { kind: "retry_at", code: "PROVIDER_UNAVAILABLE" },
    },
    {
      it: "no encryption where the server wants it before a login",
      of: { security: "none" },
      expected: { kind: "config_error", code: "PROVIDER_AUTH" },
    },
  ];
  for (const { it: name, of, expected } of setUps) {
    it(`is ${expected["kind"]} with ${name}`, async () => {
      expect(await send(of)).to.include(expected);
      expect(simulator.log.counts().accepted).to.equal(0);
    });
  }

  it("goes out over a new session, once, when the kept one has been closed by the server", async () => {
    const provider = smtp({
      account: accountOf(simulator),
      connect: connectHere,
      clock,
      timeoutMs: 3_000,
      sessions: 1,
    });
    await provider.send(message, recipient(1), AbortSignal.timeout(60_000));
    simulator.script({ refuse_connections: true });
    simulator.script({});
    expect((await provider.send(message, recipient(2), AbortSignal.timeout(60_000))).kind).to.equal("sent");
    expect(simulator.log.counts()).to.include({ accepted: 2, repeated_keys: 0 });
    await provider.close();
  });

  for (const stage of ["MAIL: ", "", "DATA: "])
    it(`waits as long as a 421 asks that ends the session at ${stage || "RCPT: "}`, async () => {
      simulator.script({ answers: [{ status: 421, reason: `${stage}4.7.28 unusual rate of mail` }] });
      const outcome = await send();
      expect(outcome).to.include({ kind: "retry_at", code: "PROVIDER_RATE_LIMITED", providerCode: "421 4.7.28" });
      expect(outcome.kind === "retry_at" && outcome.at.getTime() - Date.now()).to.be.above(240_000);
    });

  for (const { at, drop, expected } of [
    { at: "MAIL FROM", drop: "550 5.7.1 we do not want you", expected: { kind: "config_error" } },
    { at: "RCPT TO", drop: "550 5.1.1 no such user", expected: { kind: "token_invalid", code: "HARD_BOUNCE" } },
    { at: "DATA", drop: "451 4.3.0 try again", expected: { kind: "retry_at", code: "SOFT_BOUNCE" } },
  ])
    it(`is judged by the answer to ${at} of a server that closes with it`, async () => {
      const rude = await rudeMailServer((command) => (command.startsWith(at) ? { drop } : null));
      const outcome = await send({ port: Number(new URL(rude.url).port), security: "none", login: null });
      await rude.stop();
      expect(outcome).to.include({ ...expected, providerCode: drop.slice(0, 9) });
    });

  it("is taken by a server that was left in the middle of another one", async () => {
    const open = await startSmtp({ port: 0, tls });
    const port = Number(new URL(open.url).port);
    await sendHalfAMail(port);
    expect(await send({ port, login: null })).to.include({ kind: "sent" });
    expect(open.log.counts()).to.include({ received: 1, accepted: 1 });
    await open.stop();
  });

  it("goes on over the same session after a refused recipient", async () => {
    const provider = smtp({
      account: accountOf(simulator),
      connect: connectHere,
      clock,
      timeoutMs: 3_000,
      sessions: 1,
    });
    simulator.script({ answers: [{ address_prefix: "user1@", status: 550, reason: "5.1.1 no such user" }] });
    const outcomes = [];
    for (const n of [1, 2, 3]) outcomes.push(await provider.send(message, recipient(n), AbortSignal.timeout(60_000)));
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(["token_invalid", "sent", "sent"]);
    await provider.close();
  });
});
