import { generateKeyPairSync, randomBytes } from "node:crypto";
import { delimiter, join, resolve } from "node:path";
import { keptFile } from "../files/kept-file.ts";
import type { ProgramName } from "../processes/programs.ts";
import { s3Settings } from "../servers/s3.ts";
import type { Found, ServerKind } from "../servers/stack.ts";
import { simulatorOffsets } from "../simulators/start.ts";

/** What listens where beside the servers: distance from the stack's first port. */
const offsets = {
  ...simulatorOffsets,
  receiver: 15,
  rest: 20,
  apiserver: 21,
  dispatcher: 22,
  operator: 23,
  shop: 24,
} as const;

/** Addresses on loopback of all that the demo starts itself; those of the programs are for health and metrics. */
export type Addresses = Record<
  | "apns"
  | "fcm"
  | "hms"
  | "meta"
  | "webPush"
  | "twilio"
  | "vonage"
  | "control"
  | "receiver"
  | "shop"
  | "rest"
  | ProgramName,
  string
>;

export const addresses = (portBase: number): Addresses => {
  const at = (name: keyof typeof offsets, scheme = "http") => `${scheme}://127.0.0.1:${portBase + offsets[name]}`;
  return {
    apns: at("apns", "https"),
    fcm: at("fcm", "https"),
    hms: at("hms", "https"),
    meta: at("whatsapp", "https"),
    webPush: at("webPush", "https"),
    twilio: at("twilio", "https"),
    vonage: at("vonage", "https"),
    control: at("control"),
    receiver: at("receiver"),
    shop: at("shop"),
    rest: at("rest"),
    apiserver: at("apiserver"),
    dispatcher: at("dispatcher"),
    operator: at("operator"),
  };
};

/** What the demo makes up once and keeps in its folder: the installation's key ring and the app's VAPID key. */
export type DemoSecrets = { keyRing: string; vapidPrivateKey: string };

export const keptSecrets = (dir: string): DemoSecrets =>
  JSON.parse(keptFile(join(dir, "demo", "secrets.json"), () => JSON.stringify(newSecrets()))) as DemoSecrets;

const newSecrets = (): DemoSecrets => {
  const { d = "" } = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
  return {
    keyRing: `demo:${randomBytes(32).toString("base64")}`,
    vapidPrivateKey: d, // always 32 bytes in base64url, which createECDH's are not
  };
};

export type Places = {
  dir: string;
  at: Addresses;
  found: Partial<Record<ServerKind, Found>>;
  /** Name of the database and of the subjects. */
  installation: string;
  keyRing: string;
};

/** The settings of the three programs, as a chart would write them. */
export const programSettings = (places: Places): Record<ProgramName, Record<string, string>> => {
  const { dir, at, found, installation, keyRing } = places;
  const shared = {
    HERALD_MONGODB_URL: addressOf(found, "mongodb"),
    HERALD_MONGODB_DATABASE: installation,
    HERALD_NATS_URL: addressOf(found, "nats"),
    HERALD_NATS_PREFIX: installation,
    HERALD_KEY_RING: keyRing,
    HERALD_HEALTH_HOST: "127.0.0.1",
    HERALD_PUBLIC_URL: at.rest,
    HERALD_ALLOWED_RANGES: "127.0.0.0/8", // the simulated push service and the receiver of webhooks
  };
  const files = s3Settings(addressOf(found, "s3"));
  return {
    apiserver: {
      ...shared,
      ...files,
      HERALD_REDIS_URL: addressOf(found, "redis"),
      HERALD_HTTP_HOST: "127.0.0.1",
      HERALD_HTTP_PORT: new URL(at.rest).port,
    },
    dispatcher: {
      ...shared,
      ...files,
      HERALD_APNS_URL: at.apns,
      HERALD_APNS_CHANNELS_URL: at.apns,
      HERALD_FCM_URL: at.fcm,
      HERALD_TWILIO_URL: at.twilio,
      HERALD_TWILIO_CONTENT_URL: at.twilio,
      HERALD_VONAGE_URL: at.vonage,
      HERALD_META_URL: at.meta,
      HERALD_HMS_URL: at.hms,
      HERALD_HMS_OAUTH_URL: at.hms,
      NODE_EXTRA_CA_CERTS: certificateOf(dir),
    },
    operator: { ...shared, KUBECONFIG: kubeconfigOf(found) },
  };
};

/** The simulators' certificate. */
export const certificateOf = (dir: string): string => join(dir, "simulators", "ca.pem");

/** The kubeconfig, or several as the user's own KUBECONFIG may name them, for programs that run in other folders. */
export const kubeconfigOf = (found: Places["found"]): string =>
  addressOf(found, "kubernetes")
    .split(delimiter)
    .map((path) => resolve(path))
    .join(delimiter);

const addressOf = (found: Places["found"], kind: ServerKind): string => {
  const address = found[kind]?.address;
  if (address === undefined) throw new Error(`${kind} is not part of this stack`);
  return address;
};
