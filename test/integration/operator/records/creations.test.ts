import { randomBytes, randomUUID } from "node:crypto";
import { expect } from "chai";
import type { AppSpec } from "#core/channels/app-resource.ts";
import { appResource } from "#core/channels/app-resource.ts";
import { systemClock } from "#core/domain/clock.ts";
import { timings } from "#core/domain/timing.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { WebhookSpec } from "#core/schema/webhooks/resource.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Verdict } from "../../../../operator/engine/handler.ts";
import { makeStores } from "../../../../operator/engine/stores.ts";
import { allKinds } from "../../../../operator/kinds/all.ts";
import { webhook } from "../../../../operator/kinds/webhook.ts";
import type { Secrets } from "../../../../operator/kube/secrets.ts";
import { makePlatform } from "../../../../operator/platform.ts";
import { claimOf, idOf } from "../../../../operator/policies/management.ts";
import type { JetStream } from "../../../../operator/records/platform.ts";
import { anApp, aPlan, aTenant, seed, testKeyRing } from "../../../support/rows/fixtures.ts";
import { testPartitioning } from "../../../support/rows/partitioning.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { until } from "../../../support/until.ts";

const signal = new AbortController().signal;

describe("operator: webhooks that are made at the same time", () => {
  const db = testDatabase("creations");

  /** A tenant with two apps that may have two webhooks each; one call about Secrets does not come back until released. */
  const aTenantOfTwo = async (slowCall = "") => {
    const namespace = `ns-${randomUUID()}`;
    const plan = aPlan({ _id: `plan-${namespace}`, webhook_endpoints: 2 });
    const tenant = aTenant({ plan: plan._id, namespaces: [namespace] });
    const stores = makeStores(allKinds);
    const apps = ["one", "two"].map(
      (name): Resource<AppSpec> => ({
        metadata: { name, namespace, uid: randomUUID(), resourceVersion: "1" },
        spec: { channels: {}, timeZone: "UTC", managementPolicy: "Enforce", deletionPolicy: "Delete" } as AppSpec,
      }),
    );
    const rows = apps.map((app): AppRow => {
      const managed = { ...claimOf(appResource, app), epoch: 1 };
      return anApp({ _id: idOf(appResource, app), tenant_id: tenant._id, name: app.metadata.name, managed });
    });
    await seed(db(), { plans: [plan], tenants: [tenant], apps: rows });
    for (const app of apps) stores.of(appResource).put(app);

    const asked: string[] = [];
    const slow = Promise.withResolvers<void>();
    const onItsWay = async (what: string): Promise<void> => {
      asked.push(what);
      if (what === slowCall) await slow.promise;
    };
    const secrets: Secrets = {
      read: async (_, name) => {
        await onItsWay(`read ${name}`);
        return { key: "value" };
      },
      readOwn: async (_, name) => {
        await onItsWay(`readOwn ${name}`);
        return { kind: "absent" };
      },
      writeOwn: (_, name) => onItsWay(`writeOwn ${name}`),
      removeOwn: async () => undefined,
      releaseOwn: async () => undefined,
    };
    const platform = makePlatform({
      clock: systemClock,
      db: db(),
      fence: { epoch: () => 1, check: () => undefined },
      announce: () => undefined,
      stores,
      presence: async () => "there",
      isWatched: () => true,
      secrets,
      configMaps: { read: async () => null },
      mjml: { compileTemplate: async () => ({ faults: [] }) },
      keyRing: keyRing(testKeyRing),
      randomBytes,
      jetstream: {
        nats: { isConnected: () => false } as JetStream["nats"], // nothing is published
        prefix: "herald",
        replicas: 1,
        timing: timings.short,
        partitioning: testPartitioning,
      },
      timing: timings.short,
      network: { guard: addressGuard({ allow: [] }), resolve: async () => ["192.0.2.1"] },
      usage: { of: () => null },
      publicUrl: "https://herald.example",
    });
    const webhooks = webhook.handler(platform);
    const make = (name: string, appRef: string, over: Partial<WebhookSpec> = {}): Promise<Verdict> =>
      webhooks.reconcile(aWebhook({ name, namespace }, { appRef, secretName: `${name}-signing`, ...over }), signal);
    const made = async (): Promise<string[]> => {
      const found = await db().collection<WebhookRow>("webhooks").find({ tenant_id: tenant._id }).toArray();
      return found.map(({ app_id: id }) => rows.find(({ _id }) => _id === id)?.name ?? "").sort();
    };
    return { make, made, asked, release: () => slow.resolve() };
  };

  it("do not wait for another's Secrets, of the same app neither", async () => {
    const { make, made, asked, release } = await aTenantOfTwo("read keys");
    const headers = [{ name: "X-Key", valueFrom: { secretKeyRef: { name: "keys", key: "key" } } }];
    const slow = make("a", "one", { headers });
    await until(() => asked.includes("read keys"));
    await Promise.all([make("b", "two"), make("c", "one")]);
    expect(await made()).to.deep.equal(["one", "two"]);
    release();
    expect((await slow).ready).to.include({ status: "True" });
    expect(await made()).to.deep.equal(["one", "one", "two"]);
  });

  it("do not wait for those of another app, whatever is written for them", async () => {
    const { make, made, asked, release } = await aTenantOfTwo("writeOwn a-signing");
    const slow = make("a", "one");
    await until(() => asked.includes("writeOwn a-signing"));
    await make("b", "two");
    release();
    await slow;
    expect(await made()).to.deep.equal(["one", "two"]);
  });

  it("never pass the number of their app's plan", async () => {
    const { make, made } = await aTenantOfTwo();
    const verdicts = await Promise.all(Array.from({ length: 6 }, (_, n) => make(`w${n}`, "one")));
    expect(await made()).to.deep.equal(["one", "one"]);
    expect(verdicts.filter(({ ready }) => ready.reason === "PlanLimitReached")).to.have.length(4);
  });
});

const aWebhook = (of: { name: string; namespace: string }, spec: Partial<WebhookSpec>): Resource<WebhookSpec> => ({
  metadata: { ...of, uid: randomUUID(), resourceVersion: "1" },
  spec: {
    url: "https://hooks.example.com/in",
    events: ["delivery.sent"],
    batch: false,
    paused: false,
    suspended: false,
    bodyContentType: "application/json",
    maxInFlight: 10,
    timeoutMilliseconds: 10_000,
    managementPolicy: "Enforce",
    deletionPolicy: "Delete",
    ...spec,
  } as WebhookSpec, // as the API server has filled it
});
