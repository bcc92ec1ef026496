import MimeNode from "nodemailer/lib/mime-node";
import type { SMTPEnvelope } from "nodemailer/lib/smtp-connection";
import { bounceAddress } from "#core/channels/email/bounce-address.ts";
import { type CarryingAccount, carryingHeaders } from "#core/channels/email/callbacks/carried.ts";
import { type LinkKind, linkAddress } from "#core/channels/email/links.ts";
import { messageIdOf as bareMessageId } from "#core/channels/email/message-id.ts";
import type { Tracker } from "#core/channels/email/tracking.ts";
import type { Recipient } from "#core/domain/messages/outcome.ts";
import type { Signer } from "#core/domain/signer.ts";
import { type DkimKey, dkimSignature } from "./dkim.ts";
import { fromHeader, subjectHeader } from "./header-words.ts";
import { bodyOf, type EncodedMail, mailType } from "./mime-body.ts";

/** What of an account its mails are made with. */
export type Composing = {
  from: { name: string | null; address: string };
  /** Whose provider tells what becomes of mails: see `carryingHeaders`. */
  carrying?: CarryingAccount;
  /** Signs each mail. */
  dkim: DkimKey | null;
  /** Where the links of ours in its mails lead, and what signs them; null: there are none. */
  links: OwnLinks | null;
  /** Where answers of mail servers come back to, each under an address of its delivery; null: to the sender. */
  bounces: ({ domain: string } & Pick<Signer, "sign">) | null;
};

type OwnLinks = { base: string; signer: Pick<Signer, "sign">; appId: string };

/** The mail for one recipient as it goes out. @throws for an address that nodemailer cannot write */
export const composed = (account: Composing, mail: EncodedMail, to: Recipient): Buffer => {
  const node = new MimeNode(mailType(mail)).addHeader({
    To: { name: "", address: to.address },
    ...(mail.replyTo === null ? {} : { "Reply-To": { name: "", address: mail.replyTo } }),
    Subject: subjectHeader(mail.subject),
    "Message-ID": messageIdOf(account, mail, to),
    ...(mail.reply && threadHeaders(mail.reply)),
    ...(account.carrying && carryingHeaders(account.carrying, to.deliveryId)),
    ...(mail.isTransactional ? {} : leaving(account, to)),
  });
  const from = fromHeader({ name: mail.fromName ?? account.from.name ?? "", address: senderOf(account, mail) });
  const head = `${from}\r\n${node.buildHeaders()}`;
  const body = bodyOf(mail, addressesOf(account.links, to.deliveryId));
  const signature = account.dkim === null ? "" : `${dkimSignature(account.dkim, head, body)}\r\n`;
  return Buffer.from(`${signature}${head}\r\n\r\n${body}`);
};

/** Source: RFC 5322 3.6.4. */
const threadHeaders = ({ in_reply_to: answered, references }: NonNullable<EncodedMail["reply"]>) => ({
  "In-Reply-To": `<${answered}>`,
  References: references.map((id) => `<${id}>`).join(" "),
});

const senderOf = ({ from }: Composing, mail: EncodedMail): string => mail.fromAddress ?? from.address;

export const messageIdOf = (account: Composing, mail: EncodedMail, { deliveryId }: Recipient): string =>
  `<${bareMessageId(deliveryId, senderOf(account, mail))}>`;

/** With an address for bounces the sender is the mail's own: as VERP does it, so that every answer tells which mail it is about. */
export const envelopeOf = (account: Composing, mail: EncodedMail, { address, deliveryId }: Recipient): SMTPEnvelope => {
  const { bounces } = account;
  const to = [{ name: "", address }];
  if (bounces === null) return new MimeNode().setEnvelope({ from: senderOf(account, mail), to }).getEnvelope();
  const dsn = { id: deliveryId, return: "headers" as const, notify: "failure" as const }; // RFC 3461: no more than is read
  const from = bounceAddress("bounce", bounces, deliveryId);
  return new MimeNode().setEnvelope({ from, to, dsn }).getEnvelope();
};

/** The addresses of ours in the mail of one delivery. */
const addressesOf = (links: OwnLinks | null, deliveryId: string) => {
  return (tracker: Tracker): string => {
    if (links === null) return tracker.kind === "click" ? tracker.to : "";
    if (tracker.kind === "click") return ownLink(links, "c", deliveryId, tracker.to);
    return `${ownLink(links, "o", deliveryId)}.gif`;
  };
};

const ownLink = ({ base, signer, appId }: OwnLinks, kind: LinkKind, deliveryId: string, to = ""): string =>
  linkAddress(base, signer, kind, { appId, deliveryId, to });

/** How the mail's reader says that they want no more: one-click where there are links. Source: RFC 2369, RFC 8058. */
const leaving = ({ links, bounces }: Composing, { deliveryId, subscriptionId }: Recipient): Record<string, string> => {
  const ways = [
    ...(links === null ? [] : [`<${ownLink(links, "u", deliveryId, subscriptionId)}>`]),
    ...(bounces === null ? [] : [`<mailto:${bounceAddress("unsubscribe", bounces, deliveryId)}>`]),
  ];
  if (ways.length === 0) return {};
  return {
    "List-Unsubscribe": ways.join(", "),
    ...(links === null ? {} : { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
  };
};
