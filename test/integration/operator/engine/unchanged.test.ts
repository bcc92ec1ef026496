import { hashOf } from "#core/domain/api-keys/hashes.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest, type Started } from "../support/harness.ts";
import { type HttpLink, httpLinkTo, type LinkRequest } from "../support/http-link.ts";
import { manifests, textOf } from "../support/manifests.ts";

describe("operator: a resource that nothing happened to", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let link: HttpLink;
  let operator: Started;
  let reads = 0;

  const webhook = (): Manifest =>
    make.webhook({
      headers: [{ name: "authorization", valueFrom: { secretKeyRef: { name: "header", key: "value" } } }],
    });

  /** Waits until each of the kinds that read Secrets has been looked at again so many times. */
  const resyncs = async (times: number): Promise<void> => {
    const passes = async (): Promise<number[]> => {
      const { values } = await operator.metrics.reconciles.get();
      return ["app", "apikey", "webhook"].map((kind) =>
        values.filter(({ labels }) => labels.controller === kind).reduce((sum, { value }) => sum + value, 0),
      );
    };
    const before = await passes();
    await until(async () => (await passes()).every((count, i) => count >= (before[i] ?? 0) + times), 30_000);
  };

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    link = await httpLinkTo(herald.servers.kubeconfig);
    const count = ({ method, path }: LinkRequest): boolean => {
      if (method === "GET" && /\/namespaces\/[^/]+\/secrets\//.test(path)) reads++;
      return false; // the API server answers
    };
    link.answer(count, "silent", 1);
    operator = await herald.start({ kubeconfig: link.kubeconfig, settings: { resyncSeconds: 1 } });
    const resources = [make.plan(), make.tenant(), make.app(), make.apiKey(), webhook()];
    const needed = [make.namespace, make.iosSecret(), make.secret("header", { value: "Bearer 1" })];
    for (const object of [...needed, ...resources]) await herald.apply(object);
    for (const object of resources) await herald.ready(object);
  });

  after(async () => {
    await herald?.close();
    await link?.close();
  });

  it("is looked at again without a Secret being read", async () => {
    const isSpared = async (): Promise<boolean> => {
      reads = 0;
      await resyncs(3);
      return reads === 0;
    };
    await until(isSpared, 60_000); // once the events of what was made have come; on a busy machine a term may end meanwhile
  });

  it("has a new value of its Secret noticed", async () => {
    await herald.apply(make.secret("header", { value: "Bearer 2" }));
    const ring = keyRing(herald.settings.keyRing);
    await until(async () => {
      const row = await herald.db.collection<WebhookRow>("webhooks").findOne({});
      const [header] = row?.headers ?? [];
      return (
        header !== undefined && ring.open(header.value, `webhooks/${row?._id}/headers/authorization`) === "Bearer 2"
      );
    }, 15_000);
  });

  it("has an altered key repaired from its Secret", async () => {
    const keys = herald.db.collection<ApiKeyRow>("api_keys");
    const token = textOf(await herald.get(make.secret("backend-connection", {})), "token");
    await resyncs(3);
    await keys.updateOne({}, { $set: { hashes: [{ hash: hashOf("another"), expires_at: null }] } });
    await until(async () => (await keys.findOne({ "hashes.hash": hashOf(token) })) !== null, 25_000);
  });

  it("has an altered account and an altered signing secret repaired", async () => {
    const apps = herald.db.collection<AppRow>("apps");
    const webhooks = herald.db.collection<WebhookRow>("webhooks");
    const ring = keyRing(herald.settings.keyRing);
    const secret = textOf(await herald.get(make.secret("events-signing", {})), "secret");
    await resyncs(3);
    await apps.updateOne({}, { $set: { "channels.ios_push.key_id": "ANOTHERKEY" } });
    const { _id: id } = (await webhooks.findOne({})) as WebhookRow; // it is ready
    await webhooks.updateOne({}, { $set: { secret: ring.seal("whsec_another", `webhooks/${id}/secret`) } });
    await until(async () => (await apps.findOne({ "channels.ios_push.key_id": "KEY1234567" })) !== null, 25_000);
    await until(async () => {
      const row = await webhooks.findOne({ _id: id });
      return row !== null && ring.open(row.secret, `webhooks/${id}/secret`) === secret;
    }, 15_000);
  });
});
