import { once } from "node:events";
import { createServer } from "node:https";
import { json } from "node:stream/consumers";
import { selfSigned } from "../../../../dev/simulators/kit/certificate.ts";
import { until } from "../../../support/until.ts";
import { type Installation, label, type Manifest } from "../support/harness.ts";

/**
 * Delays deletions in the API server, after it has looked for finalizers and before it removes the object, as a slow
 * disk does. It asks an admission webhook at that point.
 */
export type DeletionGate = {
  /** From now on every deletion of a plan stands still. */
  block: () => void;
  /** How many deletions stand still. */
  blocked: () => number;
  release: () => void;
  close: () => Promise<void>;
};

type Review = { request: { uid: string } };

/** `probe`: an object whose deletion is tried, and not carried out, until the API server asks. */
export const deletionGate = async ({ client, id }: Installation, probe: Manifest): Promise<DeletionGate> => {
  const tls = selfSigned();
  let asked = 0;
  let open = Promise.withResolvers<void>();
  let blocked = 0;
  open.resolve();
  const server = createServer(tls, async (request, answer) => {
    const { request: review } = (await json(request)) as Review; // as admission.k8s.io/v1 says
    asked++;
    blocked++;
    await open.promise;
    blocked--;
    const response = { uid: review.uid, allowed: true };
    answer.setHeader("content-type", "application/json");
    answer.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number }; // it listens on TCP
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const caBundle = Buffer.from(tls.cert).toString("base64");
  await client.call({ method: "POST", path, body: hookOf(id, `https://127.0.0.1:${port}/`, caBundle) }, soon());
  const tried = `/apis/herald.dev/v1alpha1/plans/${probe.metadata.name}?dryRun=All`;
  await until(async () => {
    await client.call({ method: "DELETE", path: tried }, soon());
    return asked > 0;
  }, 20_000);
  return {
    block: () => {
      open = Promise.withResolvers<void>();
    },
    blocked: () => blocked,
    release: () => open.resolve(),
    close: async () => {
      open.resolve();
      await client.call({ method: "DELETE", path: `${path}/${id}` }, soon());
      server.closeAllConnections();
      server.close();
    },
  };
};

const hookOf = (id: string, url: string, caBundle: string): object => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: id },
  webhooks: [
    {
      name: "deletions.test.herald.dev",
      clientConfig: { url, caBundle },
      rules: [{ operations: ["DELETE"], apiGroups: ["herald.dev"], apiVersions: ["*"], resources: ["plans"] }],
      objectSelector: { matchLabels: { [label]: id } },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      timeoutSeconds: 30,
      failurePolicy: "Ignore",
    },
  ],
});

const soon = (): AbortSignal => AbortSignal.timeout(60_000);
