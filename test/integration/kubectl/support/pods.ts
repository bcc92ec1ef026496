import type { Installation } from "../../operator/support/harness.ts";

/** Makes a pod that no node runs, with an address. */
export const givePod = async (
  { client }: Pick<Installation, "client">,
  namespace: string,
  { name, ip, labels }: { name: string; ip: string; labels: Record<string, string> },
): Promise<void> => {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const spec = { containers: [{ name, image: "herald" }], automountServiceAccountToken: false };
  const soon = AbortSignal.timeout(60_000);
  await client.call({ method: "POST", path: pods, body: { metadata: { name, labels }, spec } }, soon);
  const status = { podIP: ip, podIPs: [{ ip }] };
  await client.call({ method: "PATCH", path: `${pods}/${name}/status`, body: { status } }, soon);
};
