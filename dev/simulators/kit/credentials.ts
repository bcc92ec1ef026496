import { generateKeyPairSync, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { keptFile } from "../../files/kept-file.ts";
import { type Certificate, selfSigned } from "./certificate.ts";

/** Accounts that the simulators know, and the certificate that they serve with. */
export type Credentials = {
  tls: Certificate;
  apns: { teamId: string; keyId: string; privateKeyPem: string; publicKeyPem: string };
  fcm: { projectId: string; clientEmail: string; privateKeyPem: string; publicKeyPem: string };
  hms: { appId: string; clientSecret: string };
  smtp: { username: string; password: string };
  whatsapp: { phoneNumberId: string; accessToken: string; appSecret: string; verifyToken: string };
  twilio: { sms: TwilioAccount; rcs: TwilioAccount; whatsapp: TwilioAccount };
  vonage: VonageAccount;
};

/** `senders` are its numbers; `rcsSender` is there in an account of RCS, `whatsappSender` in one of WhatsApp. */
export type TwilioAccount = {
  accountSid: string;
  authToken: string;
  apiKey?: { sid: string; secret: string };
  messagingServiceSid: string;
  senders: readonly string[];
  rcsSender?: string;
  whatsappSender?: string;
};

export type VonageAccount = {
  applicationId: string;
  privateKeyPem: string;
  publicKeyPem: string;
  signatureSecret: string;
  senders: readonly string[];
};

/** New credentials, as random as real ones, of the accounts that config/samples name. */
export const makeCredentials = (addresses: readonly string[] = []): Credentials => ({
  tls: selfSigned(new Date(), addresses),
  apns: { teamId: "TEAM123456", keyId: "KEY1234567", ...pems(generateKeyPairSync("ec", { namedCurve: "P-256" })) },
  fcm: {
    projectId: "herald-simulated",
    clientEmail: "herald@herald-simulated.iam.gserviceaccount.com",
    ...pems(generateKeyPairSync("rsa", { modulusLength: 2048 })),
  },
  hms: { appId: "123456789", clientSecret: randomBytes(32).toString("hex") },
  smtp: { username: "shop", password: randomBytes(24).toString("base64url") },
  whatsapp: {
    phoneNumberId: "106540352242922",
    accessToken: `EAAG${randomBytes(32).toString("hex")}`,
    appSecret: randomBytes(16).toString("hex"),
    verifyToken: randomBytes(16).toString("base64url"),
  },
  twilio: {
    sms: { ...twilioAccount("1"), apiKey: { sid: `SK${"1".repeat(32)}`, secret: randomBytes(16).toString("hex") } },
    rcs: { ...twilioAccount("2"), rcsSender: "rcs:shop_agent" },
    whatsapp: { ...twilioAccount("3"), whatsappSender: "whatsapp:+15005550026" },
  },
  vonage: {
    applicationId: "78d335fa-323d-0114-9c3d-d6f0d48968cf",
    signatureSecret: randomBytes(32).toString("base64url"),
    senders: ["+15005550016"],
    ...pems(generateKeyPairSync("rsa", { modulusLength: 2048 })),
  },
});

const twilioAccount = (digit: string): TwilioAccount => ({
  accountSid: `AC${digit.repeat(32)}`,
  authToken: randomBytes(16).toString("hex"),
  messagingServiceSid: `MG${digit.repeat(32)}`,
  senders: ["+15005550006", "+15005550007"],
});

/** Those of a folder, made at the first call, so that a restarted simulator still knows the accounts. Also writes `ca.pem`. */
export const keptCredentials = (folder: string, addresses: readonly string[] = []): Credentials => {
  const text = keptFile(join(folder, "accounts.json"), () => JSON.stringify(makeCredentials(addresses)));
  const credentials = JSON.parse(text) as Credentials; // written by the line above
  writeFileSync(join(folder, "ca.pem"), credentials.tls.cert);
  return credentials;
};

const pems = ({ publicKey, privateKey }: ReturnType<typeof generateKeyPairSync>) => ({
  privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
});
