import { Type } from "typebox";
import { Closed, Nullable } from "../../schema/json/common.ts";
import { worded } from "../../schema/json/patterns.ts";
import { defineAccount, secret, secretWith } from "../kit/account.ts";
import { bad, defineChannel, good } from "../kit/channel.ts";
import { BadSecret, privateKeyOf } from "../kit/secret-text.ts";
import { normalised } from "./address.ts";

const { Array: List, Enum, Integer, String: Text } = Type;

const hostName = (description: string) =>
  Text({
    minLength: 1,
    maxLength: 253,
    pattern: worded("^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$", "must be a host name such as mail.example.com"),
    description,
  });

/** Mails are signed with RSA (RFC 6376); few receivers know the keys of RFC 8463, which asks for one of RSA beside them. */
const dkimKey = (pem: string): string => {
  if (privateKeyOf(pem).asymmetricKeyType !== "rsa") throw new BadSecret("is not an RSA key");
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

const bounces = Closed(
  {
    domain: hostName(
      "the domain of the addresses that mail servers answer to; its mail has to come back to this service",
    ),
    password: secret("bounce_password"),
  },
  {
    description:
      "bounces and complaints that come back as mail; the Secret's `bounce_password` is what the mail server hands them over with",
  },
);

/** Whose callbacks come to `/ingress/…`, and what they are verified with. Source: docs/reference/callbacks.md. */
const callbacks = {
  ses: Nullable(
    Closed(
      {
        topic_arn: Text({
          pattern: worded(
            "^arn:aws[a-z-]*:sns:[a-z0-9-]+:\\d{12}:[A-Za-z0-9_.-]{1,256}$",
            "must be the ARN of an SNS topic, such as arn:aws:sns:eu-west-1:123456789012:mails",
          ),
          maxLength: 512,
          description: "the SNS topic that Amazon SES publishes its events to",
        }),
      },
      { description: "the server is Amazon SES, and tells what becomes of mails" },
    ),
  ),
  sendgrid: Nullable(
    Closed(
      {
        public_key: Text({
          pattern: worded("^[A-Za-z0-9+/]{100,400}={0,2}$", "must be 100 to 400 characters of base64"),
          maxLength: 400,
          description: "the verification key of the Signed Event Webhook, as SendGrid shows it",
        }),
      },
      { description: "the server is SendGrid, and tells what becomes of mails" },
    ),
  ),
  mailgun: Nullable(
    Closed(
      { signing_key: secret("mailgun_signing_key") },
      { description: "the server is Mailgun, and tells what becomes of mails; `mailgun_signing_key` is in the Secret" },
    ),
  ),
  postmark: Nullable(
    Closed(
      {
        username: Text({
          pattern: worded("^[A-Za-z0-9._~-]{1,64}$", "must be 1 to 64 letters, digits and ._~-"),
          maxLength: 64,
          description: "the name in the address that Postmark calls; the Secret's `postmark_password` is the password",
        }),
        password: secret("postmark_password"),
      },
      { description: "the server is Postmark, and tells what becomes of mails" },
    ),
  ),
};

const account = defineAccount(
  {
    host: hostName("SMTP server"),
    port: Integer({ minimum: 1, maximum: 65_535, default: 587, description: "SMTP port" }),
    security: Enum(["starttls", "tls", "none"], {
      default: "starttls",
      description: "starttls: refuses to go on without it; tls: from the first byte; none: only for a trusted network",
    }),
    from_name: Nullable(
      Text({
        minLength: 1,
        maxLength: 128,
        pattern: worded("^[^\\x00-\\x1f\\x7f]+$", "must not contain control characters"),
        description: "default sender's name",
      }),
    ),
    from_address: Text({
      minLength: 3,
      maxLength: 320,
      pattern: worded("^[^@\\s<>]+@[^@\\s<>]+$", "must be a mail address without a name"),
      description: "default sender's address",
    }),
    username: Nullable(
      Text({ minLength: 1, maxLength: 256, description: "SMTP user; needs `password` in the Secret" }),
    ),
    password: secretWith("username", "password"),
    dkim: Nullable(dkim),
    bounces: Nullable(bounces),
    tracking_url: Nullable(
      Text({
        pattern: worded("^https://[^\\s/?#]+(/[^\\s?#]*)?$", "must be an https address without a query"),
        maxLength: 500,
        description:
          "https address of the links of ours in mails, which leads to the apiserver; the service's own when left out",
      }),
    ),
    tracking: Nullable(
      Enum(["all", "opens", "clicks", "none"], {
        description:
          "what is recorded of the mails' readers: that a mail was opened, which links were used; all when left out",
      }),
    ),
    transactional_categories: Nullable(
      List(Text({ minLength: 1, maxLength: 64 }), {
        maxItems: 50,
        description: "categories of messages whose mails have no List-Unsubscribe: receipts, passwords",
      }),
    ),
    ...callbacks,
  },
  {
    description: "e-mail over SMTP",
    secretHolds:
      "`password` when username is set, `dkim_private_key` when dkim is set, `bounce_password` when bounces is set, " +
      "`mailgun_signing_key` when mailgun is set, `postmark_password` when postmark is set",
    secretGoesWith: ["username", "dkim", "bounces", "mailgun", "postmark"],
  },
);

/** Mails. */
export const email = defineChannel({
  name: "email",
  resourceMember: "email",
  providers: ["smtp"],
  account,
  address: {
    schema: { pattern: worded("^\\S[^@\\s]*@\\S+\\.\\S+$", "must be a mail address") },
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
    isIn: ({ email_subject: subject, email_body: body, email_mjml: mjml }) =>
      subject !== undefined && (body ?? mjml) !== undefined,
    empty: ({ email_subject: subject, email_body: body }) =>
      subject === "" && body === "" ? [{ field: "email_body", message: "is empty, and so is email_subject" }] : [],
  },
  mayReachUnsubscribed: true,
  limit: null,
});
