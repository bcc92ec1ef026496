import type { Receipt, ReceiptFact } from "../../../domain/messages/receipts.ts";
import { accepted, type CallbackDefinition, isSame, refused, unknown, type Verdict } from "../../kit/callbacks.ts";
import { addressIn, type Bounces, bounceSigner, isOurs } from "../bounce-address.ts";
import { replyWords as words } from "../reply-words.ts";
import { refusalFact, statusIn } from "./bounces.ts";
import { type Report, reportIn } from "./report.ts";

/**
 * Mails that came back about mails of ours, handed over by the mail server that takes them: `POST /ingress/mail/{appId}`
 * with the mail as its body and `Authorization: Basic` of `bounce` and the password. Source: docs/reference/email.md#bounces.
 */
export const bounceMail: CallbackDefinition<{ bounces: Bounces | null }> = {
  verify: ({ method, part, header, body }, { account: { bounces } }) => {
    if (bounces === null || method !== "POST" || part !== "") return unknown;
    const login = `Basic ${Buffer.from(`bounce:${bounces.password}`).toString("base64")}`;
    if (!isSame(header("authorization") ?? "", login)) return refused;
    const address = addressIn(textOf(body));
    return address !== null && isOurs(bounceSigner(bounces), address) ? accepted : dropped;
  },
  read: ({ body, receivedAt }) => {
    const mail = textOf(body);
    const address = addressIn(mail);
    if (address === null) return { receipts: [], inbound: [] };
    const found = address.purpose === "unsubscribe" ? wish(receivedAt) : factsIn(reportIn(mail), receivedAt);
    const about = { deliveryId: address.deliveryId, providerId: null, address: null };
    return { receipts: found.map((fact): Receipt => ({ ...about, ...fact })), inbound: [] };
  },
};

const mostBytes = 262_144; // reports stand at a mail's beginning: what was sent comes behind them

const textOf = (body: Buffer): string => body.toString("latin1", 0, mostBytes);

/** Anybody may write to the addresses: what is about no mail of ours is taken, so that the server does not try again. */
const dropped: Verdict = { kind: "answered", reply: { contentType: "text/plain", text: "" } };

type Fact = ReceiptFact & { at: Date };

/** A mail to the address of `List-Unsubscribe`. */
const wish = (at: Date): Fact[] => [
  { kind: "unsubscribed", at, source: "link", reason: "a mail to the address for leaving", categories: null },
];

const factsIn = (report: Report | null, receivedAt: Date): Fact[] => {
  if (report === null) return []; // an answer of a person, or of one who is away
  return report.type === "delivery-status" ? statusOf(report, receivedAt) : feedbackOf(report, receivedAt);
};

/** Source: RFC 3464 2.3.3. What is delayed is still tried; relayed and expanded say nothing of its end. */
const statusOf = ({ groups }: Report, receivedAt: Date): Fact[] => {
  const recipient = groups.find((fields) => fields.has("action"));
  const action = recipient?.get("action")?.toLowerCase();
  if (recipient === undefined || (action !== "failed" && action !== "delivered")) return [];
  const at = instantOf(recipient.get("last-attempt-date"), receivedAt);
  return [action === "delivered" ? { kind: "delivered", at } : { ...bounceOf(recipient), at }];
};

const instantOf = (given: string | undefined, receivedAt: Date): Date => {
  const at = new Date(given ?? "");
  return at.getTime() <= receivedAt.getTime() ? at : receivedAt; // false for what is no instant
};

/** A status of the mailbox counts only when the words beside it are about nothing else: see {@link words}. */
const bounceOf = (recipient: ReadonlyMap<string, string>): ReceiptFact => {
  const status = statusIn(recipient.get("status") ?? null) ?? "5.0.0";
  const text = (recipient.get("diagnostic-code") ?? "").slice(0, 1_000);
  const reply = /\b([45]\d\d)[ -]/.exec(text)?.[1];
  const isVague = /^5\.(1\.\d+|2\.1)$/.test(status);
  const isOfOthers = notOfMailbox.some((about) => about.test(text));
  return refusalFact({
    status: isVague && isOfOthers ? null : status,
    providerCode: reply === undefined ? status : `${reply} ${status}`,
    isHard: status === "5.0.0" && !isOfOthers && words.mailbox.test(text) && words.absent.test(text),
  });
};

const notOfMailbox = [words.relay, words.sender, words.sendingQuota, words.policy, words.rate];

/** The types of RFC 5965 7.3 are all complaints; later ones (not-spam, auth-failure) are none. */
const feedbackOf = ({ groups }: Report, at: Date): Fact[] => {
  const type =
    groups
      .find((fields) => fields.has("feedback-type"))
      ?.get("feedback-type")
      ?.toLowerCase() ?? "";
  const isComplaint = ["abuse", "fraud", "virus", "other"].includes(type);
  return isComplaint ? [{ kind: "complained", at, source: "provider", reason: type }] : [];
};
