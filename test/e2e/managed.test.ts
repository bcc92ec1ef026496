import { expect } from "chai";
import { RestError } from "../../dev/demo/rest.ts";
import { eventually } from "./support/cluster/cluster.ts";
import { type System, samplesNamespace, system } from "./support/system.ts";

describe("what resources declare", () => {
  let at: System;

  before(async () => {
    at = await system();
  });

  it("is what REST lists, and refuses to have changed", async () => {
    const { rest, appId } = await at.client();
    const types = await rest.get<{ data: { name: string }[] }>(`/v1/apps/${appId}/live-activities/types`);
    expect(types.data.map(({ name }) => name)).to.include("OrderAttributes");
    const refusal = await rotate(at, await idOf(at, "shop-events")).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(RestError).with.property("status", 409);
    expect(String(refusal)).to.include("HS_MANAGED");
  });

  it("is REST's to change once the resource is gone that retains it", async () => {
    await at.cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify(retained) });
    const id = await eventually("the id of the webhook", 20_000, async () => (await idOf(at, "retained")) || null);
    await at.cluster.kubectl(["delete", "webhook", "retained", "--namespace", samplesNamespace]);
    const { id: rotated } = await eventually("REST may change it", 20_000, () => rotate(at, id).catch(nullWhenManaged));
    expect(rotated).to.equal(id);
  });
});

const retained = {
  apiVersion: "herald.dev/v1alpha1",
  kind: "Webhook",
  metadata: { name: "retained", namespace: samplesNamespace },
  spec: {
    appRef: "shop",
    url: "https://hooks.example.com/retained",
    events: ["message.failed"],
    secretName: "retained-signing",
    deletionPolicy: "Retain",
  },
};

const idOf = ({ cluster }: System, name: string): Promise<string> =>
  cluster.kubectl(["get", "webhook", name, "--namespace", samplesNamespace, "--output", "jsonpath={.status.id}"]);

const rotate = async ({ client }: System, id: string): Promise<{ id: string }> => {
  const { rest, appId } = await client();
  return rest.post(`/v1/apps/${appId}/webhooks/${id}/rotate-secret`, {});
};

const nullWhenManaged = (error: unknown): null => {
  if (error instanceof RestError && error.status === 409) return null;
  throw error;
};
