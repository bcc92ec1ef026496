import { domainToASCII } from "node:url";
import { Type } from "typebox";
import { Closed, Nullable } from "../../schema/json/common.ts";
import { defineAccount, secret, secretWith } from "../kit/account.ts";
import { bad, defineChannel, good } from "../kit/channel.ts";
import { BadSecret, privateKeyOf } from "../kit/secret-text.ts";

const { Enum, Integer, String: Text } = Type;

const hostName = (description: string) =>
  Text({ minLength: 1, maxLength: 253, pattern: "^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$", description });

/** Source: RFC 6376 (RSA) and RFC 8463 (Ed25519). */
const dkimKey = (pem: string): string => {
  const { asymmetricKeyType = "" } = privateKeyOf(pem);
  if (!["rsa", "ed25519"].includes(asymmetricKeyType)) throw new BadSecret("is neither an RSA nor an Ed25519 key");
  return pem;
};

const dkim = Closed(
  {
    domain: hostName("the signing domain (d=)"),
    selector: hostName("the selector (s=)"),
    private_key: secret("dkim_private_key", dkimKey),
  },
  { description: "DKIM signature; the Secret's `dkim_private_key` is the key (PEM)" },
);

const account = defineAccount(
  {
    host: hostName("SMTP server"),
    port: Integer({ minimum: 1, maximum: 65_535, default: 587, description: "SMTP port" }),
    security: Enum(["starttls", "tls", "none"], {
      default: "starttls",
      description: "starttls: refuses to go on without it; tls: from the first byte; none: only for a trusted network",
    }),
    from_name: Nullable(
      Text({ minLength: 1, maxLength: 128, pattern: "^[^\\x00-\\x1f\\x7f]+$", description: "default sender's name" }),
    ),
    from_address: Text({
      minLength: 3,
      maxLength: 320,
      pattern: "^[^@\\s<>]+@[^@\\s<>]+$",
      description: "default sender's address",
    }),
    username: Nullable(
      Text({ minLength: 1, maxLength: 256, description: "SMTP user; needs `password` in the Secret" }),
    ),
    password: secretWith("username", "password"),
    dkim: Nullable(dkim),
  },
  {
    description: "e-mail over SMTP",
    secretHolds: "`password` when username is set, `dkim_private_key` when dkim is set",
    secretGoesWith: ["username", "dkim"],
  },
);

/** Mails. */
export const email = defineChannel({
  name: "email",
  resourceMember: "email",
  providers: ["smtp"],
  account,
  address: {
    schema: { pattern: "^\\S[^@\\s]*@\\S+\\.\\S+$" },
    check: (given) => {
      const address = normalised(given);
      return address === null ? bad("must be an e-mail address") : good(address);
    },
    mask: (address) => {
      const at = address.lastIndexOf("@");
      return at < 1 ? "•••" : `${address.slice(0, 1)}•••${address.slice(at)}`;
    },
  },
  content: {
    isIn: (content) => content.email_subject !== undefined && content.email_body !== undefined,
    empty: ({ email_subject: subject, email_body: body }) =>
      subject === "" && body === "" ? [{ field: "email_body", message: "is empty, and so is email_subject" }] : [],
  },
  mayReachUnsubscribed: true,
  limit: null,
});

/** Lower case, the domain in its ASCII form (RFC 5891). Null for what is no address (RFC 5321 4.5.3.1 bounds). */
const normalised = (given: string): string | null => {
  const at = given.lastIndexOf("@");
  const local = given.slice(0, at).toLowerCase();
  const domain = domainToASCII(given.slice(at + 1)).toLowerCase();
  const isLocal = /^[^\s@"(),:;<>[\\\]\p{Cc}]{1,64}$/u.test(local) && !/^\.|\.\.|\.$/.test(local);
  const isDomain = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9][a-z0-9-]{0,62}$/.test(domain);
  return at > 0 && isLocal && isDomain ? `${local}@${domain}` : null;
};
