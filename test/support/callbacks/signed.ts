import { createHmac, generateKeyPairSync, randomBytes, randomUUID, sign } from "node:crypto";
import { authority, type Certificate, issuedBy } from "../../../dev/simulators/kit/certificate.ts";

/** A callback as a provider sends it. */
export type Signed = { headers: Record<string, string>; body: string };

const json = { "content-type": "application/json" };

/** SendGrid's key pair: `publicKey` is what an account has of it. */
export const sendgridKeys = () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const publicText = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  return {
    publicKey: publicText,
    signed: (events: readonly object[], now = new Date()): Signed => {
      const timestamp = String(Math.floor(now.getTime() / 1_000));
      const body = JSON.stringify(events);
      const signature = sign("sha256", Buffer.from(timestamp + body), privateKey).toString("base64");
      return {
        headers: {
          ...json,
          "x-twilio-email-event-webhook-timestamp": timestamp,
          "x-twilio-email-event-webhook-signature": signature,
        },
        body,
      };
    },
  };
};

export const signedMailgun = (event: object, { key, now = new Date() }: { key: string; now?: Date }): Signed => {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const token = randomBytes(25).toString("hex");
  const signature = createHmac("sha256", key)
    .update(timestamp + token)
    .digest("hex");
  return { headers: json, body: JSON.stringify({ signature: { timestamp, token, signature }, "event-data": event }) };
};

/** A mail of a person that a route of Mailgun's forwards as it came. */
export const mailgunMail = (
  mime: string | Buffer,
  { key, now = new Date() }: { key: string; now?: Date },
): FormData => {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const token = randomBytes(25).toString("hex");
  const signature = createHmac("sha256", key)
    .update(timestamp + token)
    .digest("hex");
  const form = new FormData();
  for (const [name, value] of Object.entries({ recipient: "help@shop.test", timestamp, token, signature }))
    form.append(name, value);
  form.append("body-mime", Buffer.isBuffer(mime) ? mime.toString("latin1") : mime);
  return form;
};

export const signedPostmark = (event: object, login: { username: string; password: string }): Signed => ({
  headers: { ...json, authorization: `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}` },
  body: JSON.stringify(event),
});

/** Where Amazon SNS of a region keeps a certificate. */
export const snsCertificateAt = (region: string): string =>
  `https://sns.${region}.amazonaws.com/SimpleNotificationService-${"0123456789abcdef".repeat(2)}.pem`;

/** Who vouches for certificates of Amazon SNS, here. */
export const snsAuthority = authority("herald test authority");

/** What Amazon SNS signs for a topic with a certificate of its own; one of `snsAuthority` when left out. */
export const snsTopic = (topicArn: string, certificate: Certificate = issuedBy(snsAuthority, "sns.amazonaws.com")) => {
  const certificateUrl = snsCertificateAt(topicArn.split(":")[3] ?? "");
  const signed = (members: Record<string, string>, version: "1" | "2"): Signed => {
    const names = Object.keys(members).sort(); // the order in which they are signed is that of their names
    const text = names.map((name) => `${name}\n${members[name]}\n`).join("");
    const signature = sign(version === "1" ? "sha1" : "sha256", Buffer.from(text), certificate.key).toString("base64");
    const body = { ...members, SignatureVersion: version, Signature: signature, SigningCertURL: certificateUrl };
    return { headers: { "content-type": "text/plain; charset=UTF-8" }, body: JSON.stringify(body) };
  };
  const common = (now: Date) => ({ MessageId: randomUUID(), TopicArn: topicArn, Timestamp: now.toISOString() });
  return {
    certificate: certificate.cert,
    certificateUrl,
    topicArn,
    notification: (event: object, now = new Date(), version: "1" | "2" = "2"): Signed =>
      signed({ Type: "Notification", ...common(now), Message: JSON.stringify(event) }, version),
    confirmation: (url: string, now = new Date()): Signed =>
      signed(
        { Type: "SubscriptionConfirmation", ...common(now), Token: "t0k3n", Message: "Confirm.", SubscribeURL: url },
        "1",
      ),
  };
};
