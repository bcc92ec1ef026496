import { fork } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { fileURLToPath } from "node:url";
import { bounceSigner } from "#core/channels/email/bounce-address.ts";
import { renderEmail } from "#core/channels/email/render.ts";
import { systemClock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Recipient } from "#core/domain/messages/outcome.ts";
import { signer } from "#core/domain/signer.ts";
import { selfSigned } from "../../../dev/simulators/kit/certificate.ts";
import type { ReceivedCounts } from "../../../dev/simulators/kit/received.ts";
import { encodedMail } from "../../../dispatcher/channels/email/mime-body.ts";
import { type SmtpAccount, smtp } from "../../../dispatcher/channels/email/smtp.ts";
import { connectHere } from "../../support/servers/outgoing.ts";
import { atLeast } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";
import type { EmailSinkSettings } from "./email-sink.ts";

/** `signed`: of the last 1,000 mails, those whose DKIM signature verified. */
type EmailResult = { cpuUsPerMail: number; accepted: number; signed: number };

export type EmailBench = { mails?: number; warmUp?: number; underWay?: number };

/**
 * CPU of the sending process for each mail: over STARTTLS to the mail simulator in another process, each with its own
 * links, picture, List-Unsubscribe and envelope sender, a body of 10 kB and a DKIM signature (RSA, 2,048 bits).
 */
export const benchEmailSender = async (bench: EmailBench = {}): Promise<EmailResult> => {
  const { mails = 3_000, warmUp = 300, underWay = 8 } = bench;
  const { settings, account } = accountFor();
  const child = fork(join(import.meta.dirname, "email-sink.ts"));
  child.send(settings);
  const [{ url }] = (await once(child, "message")) as [{ url: string }]; // what email-sink.ts answers first
  const provider = smtp({
    account: { ...account, port: Number(new URL(url).port) },
    connect: connectHere,
    clock: systemClock,
  });
  const sendAll = async (from: number, count: number): Promise<void> => {
    let next = from;
    const worker = async (): Promise<void> => {
      while (next < from + count) await provider.send(mail, recipient(next++), never);
    };
    await Promise.all(Array.from({ length: underWay }, worker));
  };
  await sendAll(0, warmUp);
  const before = process.cpuUsage();
  await sendAll(warmUp, mails);
  const { user, system } = process.cpuUsage(before);
  await provider.close();
  child.send("counts");
  const [{ accepted, mails: signed }] = (await once(child, "message")) as [ReceivedCounts & { mails: number }]; // its second answer
  child.disconnect();
  return { cpuUsPerMail: (user + system) / mails, accepted: accepted - warmUp, signed };
};

const never = new AbortController().signal;

const recipient = (n: number): Recipient => ({
  deliveryId: derivedId("delivery", String(n)),
  subscriptionId: derivedId("subscription", String(n)),
  address: `user${n}@example.test`,
});

const paragraph = "<p>Your order is on its way, and arrives before noon. Grüße aus Köln!</p>";
const link = (n: number): string => `<a href="https://shop.test/articles/${n}?from=mail&amp;n=${n}">Article ${n}</a>`;

const mail = encodedMail(
  renderEmail(
    {
      content: {
        email_subject: "Your order",
        email_preheader: "It arrives before noon.",
        email_body: `<html><body>${Array.from({ length: 10 }, (_, n) => paragraph.repeat(12) + link(n)).join("")}</body></html>`,
      },
      options: {},
    },
    { tracking: { opens: true, clicks: true }, transactionalCategories: [] },
  ),
);

const accountFor = (): { settings: EmailSinkSettings; account: SmtpAccount } => {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const tls = selfSigned();
  setDefaultCACertificates([tls.cert]); // as an authority that the machine trusts: one of the account's own is read anew by each session
  const login = { username: "herald", password: "correct horse" };
  const domain = "bounces.shop.test";
  const account: SmtpAccount = {
    host: "127.0.0.1",
    port: 0,
    security: "starttls",
    login,
    from: { name: "Shop", address: "news@shop.test" },
    dkim: {
      domain: "shop.test",
      selector: "s1",
      privateKey,
    },
    links: { base: "https://links.shop.test", signer: signer([Buffer.alloc(32, 1)]), appId: derivedId("app", "bench") },
    bounces: { domain, sign: bounceSigner({ domain, password: "x" }).sign },
  };
  const dkim = { "s1._domainkey.shop.test": publicKey.export({ type: "spki", format: "pem" }).toString() };
  return { settings: { tls, login, dkim }, account };
};

/** The rate of one core that does nothing else. */
export const measureEmail: Measurement = async ({ isShort }, tell) => {
  const mails = isShort ? 50 : 3_000;
  const trusted = getCACertificates("default");
  const { cpuUsPerMail, accepted, signed } = await benchEmailSender({ mails, warmUp: isShort ? 10 : 300 }).finally(
    () => setDefaultCACertificates(trusted), // what is measured next has an authority of its own
  );
  if (accepted !== mails || signed === 0) throw new Error(`${accepted} of ${mails} mails arrived, ${signed} signed`);
  const how = `${mails} mails of 10 kB with 10 links, DKIM, over STARTTLS: ${cpuUsPerMail.toFixed(0)} µs each`;
  tell({ name: "e-mail, tracked, a core", reach: atLeast(400), value: 1_000_000 / cpuUsPerMail, unit: "/s", how });
};

// node test/bench/messages/email-sender.ts [mails]
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { cpuUsPerMail, accepted } = await benchEmailSender({ mails: Number(process.argv[2] ?? 3_000) });
  console.log(
    `${cpuUsPerMail.toFixed(0)} µs CPU a mail, ${(1_000_000 / cpuUsPerMail).toFixed(0)}/s; accepted ${accepted}`,
  );
}
