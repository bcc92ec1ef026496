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
  smtp: { username: string; password: string };
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
  smtp: { username: "shop", password: randomBytes(24).toString("base64url") },
});

/** Those of a folder, made at the first call, so that a restarted simulator still knows the accounts. Also writes `ca.pem`. */
export const keptCredentials = (folder: string, addresses: readonly string[] = []): Credentials => {
  const text = keptFile(join(folder, "credentials.json"), () => JSON.stringify(makeCredentials(addresses)));
  const credentials = JSON.parse(text) as Credentials; // written by the line above
  writeFileSync(join(folder, "ca.pem"), credentials.tls.cert);
  return credentials;
};

const pems = ({ publicKey, privateKey }: ReturnType<typeof generateKeyPairSync>) => ({
  privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
});
