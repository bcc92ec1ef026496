import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Certificate, selfSigned } from "./certificate.ts";

/** Accounts that the simulators know, and the certificate that they serve with. */
export type Credentials = {
  tls: Certificate;
  apns: { teamId: string; keyId: string; privateKeyPem: string; publicKeyPem: string };
  fcm: { projectId: string; clientEmail: string; privateKeyPem: string; publicKeyPem: string };
};

/** New credentials, as random as real ones. */
export const makeCredentials = (): Credentials => ({
  tls: selfSigned(),
  apns: { teamId: "TEAM000001", keyId: "KEY0000001", ...pems(generateKeyPairSync("ec", { namedCurve: "P-256" })) },
  fcm: {
    projectId: "herald-simulated",
    clientEmail: "herald@herald-simulated.iam.gserviceaccount.com",
    ...pems(generateKeyPairSync("rsa", { modulusLength: 2048 })),
  },
});

/** Those of a folder, made at the first call, so that a restarted simulator still knows the accounts. Also writes `ca.pem`. */
export const keptCredentials = (folder: string): Credentials => {
  const file = join(folder, "credentials.json");
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(file, JSON.stringify(makeCredentials()), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const credentials = JSON.parse(readFileSync(file, "utf8")) as Credentials; // written by the lines above
  writeFileSync(join(folder, "ca.pem"), credentials.tls.cert);
  return credentials;
};

const pems = ({ publicKey, privateKey }: ReturnType<typeof generateKeyPairSync>) => ({
  privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
});
