import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootDir, portBase as standardPortBase } from "../files/paths.ts";
import type { Credentials } from "../simulators/kit/credentials.ts";
import { eventually } from "./eventually.ts";
import type { Kubectl } from "./kubectl.ts";
import type { Note } from "./phase.ts";
import type { Addresses, DemoSecrets } from "./settings.ts";

/** The namespace of the samples. */
export const namespace = "herald-demo";

const apply = ["apply", "--server-side", "--force-conflicts"]; // leaves no copy of a Secret in an annotation
const establishedWithin = "30s";
const readyWithinMs = 60_000;
const systemNamespacesWithinMs = 30_000;

/** Applies the CRDs and waits until the API server serves them. */
export const applyCrds = async (kubectl: Kubectl): Promise<void> => {
  await kubectl([...apply, "-f", "crds"]);
  await kubectl(["wait", "--for=condition=Established", `--timeout=${establishedWithin}`, "-f", "crds"]);
};

/** A name for the installation that follows from the cluster: with another cluster another database is used. */
export const installationFor = async (kubectl: Kubectl): Promise<string> => {
  const read = ["get", "namespace", "kube-system", "--ignore-not-found", "-o", "jsonpath={.metadata.uid}"];
  const uid = await eventually(async () => (await kubectl(read)) || null, systemNamespacesWithinMs);
  if (uid === null) throw new Error("the API server has made no namespace kube-system");
  return `herald_demo_${uid.slice(0, 8)}`;
};

/** Applies the Secrets that the samples name, then the samples. */
export const applySamples = async (kubectl: Kubectl, samples: string, secrets: object[]): Promise<void> => {
  await applySecrets(kubectl, secrets);
  await kubectl([...apply, "-f", samples]);
};

/** Applies the Secrets that the samples name. */
export const applySecrets = async (kubectl: Kubectl, secrets: object[]): Promise<void> => {
  const list = { apiVersion: "v1", kind: "List", items: [namespaceObject, ...secrets] };
  await kubectl([...apply, "-f", "-"], JSON.stringify(list));
};

/** The samples name the standard ports of the demo's mail server and receiver; other ports need a copy. */
export const samplesFor = (portBase: number, dir: string): string => {
  const standard = standardPortBase({});
  if (portBase === standard) return "config/samples";
  const copy = join(dir, "demo", "samples");
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(rootDir, "config/samples"), copy, { recursive: true });
  for (const file of globSync(join(copy, "*.yaml"))) {
    const text = readFileSync(file, "utf8");
    const move = (port: string): string => String(Number(port) - standard + portBase);
    writeFileSync(file, text.replaceAll(new RegExp(`\\b${String(standard).slice(0, 3)}\\d\\d\\b`, "g"), move));
  }
  return copy;
};

/** The credentials of the sample app: the accounts that the simulators know. */
export const appSecrets = (
  { apns, fcm, hms, smtp, twilio, whatsapp }: Credentials,
  secrets: DemoSecrets,
  at: Addresses,
): object[] => [
  secret("shop-ios", { private_key: apns.privateKeyPem }),
  secret("shop-android", {
    "service_account.json": JSON.stringify({
      type: "service_account",
      project_id: fcm.projectId,
      client_email: fcm.clientEmail,
      private_key: fcm.privateKeyPem,
      token_uri: `${at.fcm}/token`,
    }),
  }),
  secret("shop-huawei", { client_secret: hms.clientSecret }),
  secret("shop-web", { private_key: secrets.vapidPrivateKey }),
  secret("shop-email", { password: smtp.password }),
  secret("shop-sms", { auth_token: twilio.sms.authToken }),
  secret("shop-rcs", { auth_token: twilio.rcs.authToken }),
  secret("shop-whatsapp", {
    access_token: whatsapp.accessToken,
    app_secret: whatsapp.appSecret,
    verify_token: whatsapp.verifyToken,
  }),
  secret("shop-lake", { access_key_id: "demo", secret_access_key: "demo" }), // its first run comes later
  secret("shop-chat", { token: "Bearer of the demo" }), // the receiver takes any
];

/** Waits until the operator has made every sample true. Throws with the conditions of those that it has not. */
export const awaitReady = async (kubectl: Kubectl, samples: string, note: Note): Promise<void> => {
  const states = async (): Promise<string[]> =>
    (JSON.parse(await kubectl(["get", "-f", samples, "-o", "json"])) as { items: Resource[] }).items.flatMap(unready);
  let waiting: string[] = [];
  const isReady = await eventually(async () => {
    waiting = await states();
    note(`${waiting.length} not ready, first ${waiting[0]}`);
    return waiting.length === 0 ? true : null;
  }, readyWithinMs);
  if (!isReady) throw new Error(`not ready after ${readyWithinMs / 1000} s:\n  ${waiting.join("\n  ")}`);
};

/** The values of a Secret. */
export const readSecret = async (kubectl: Kubectl, name: string): Promise<Record<string, string>> => {
  const printed = await kubectl(["-n", namespace, "get", "secret", name, "-o", "json"]);
  const { data } = JSON.parse(printed) as { data: Record<string, string> }; // of the core API
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
};

type Condition = { type: string; status: string; reason: string; message: string; observedGeneration: number };
type Resource = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; generation: number };
  status?: { conditions?: Condition[] };
};

/** What keeps a resource from being ready, in one line; a Namespace has no such condition. */
const unready = ({ apiVersion, kind, metadata, status }: Resource): string[] => {
  if (!apiVersion.startsWith("herald.dev/")) return [];
  const name = `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.observedGeneration !== metadata.generation) return [`${name} (not looked at yet)`];
  return ready.status === "True" ? [] : [`${name} (${ready.reason}: ${ready.message})`];
};

const namespaceObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };

const secret = (name: string, stringData: Record<string, string>): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace },
  stringData,
});
