import { expect } from "chai";
import { appResource } from "#core/channels/app-resource.ts";
import { keyOf } from "#core/runtime/kube/objects.ts";
import { apiKeyResource } from "#core/schema/api-keys/resource.ts";
import { liveActivityTypeResource } from "#core/schema/live-activities/resource.ts";
import { planResource } from "#core/schema/plans/resource.ts";
import { segmentResource } from "#core/schema/segments/resource.ts";
import { tenantResource } from "#core/schema/tenants/resource.ts";
import { webhookResource } from "#core/schema/webhooks/resource.ts";
import { dependants } from "../../../../operator/engine/links.ts";
import { makeStores } from "../../../../operator/engine/stores.ts";
import { allKinds } from "../../../../operator/kinds/all.ts";
import type { StoreEvent } from "../../../../operator/kube/store.ts";
import { type Claimant, idOf } from "../../../../operator/policies/management.ts";

const policies = { managementPolicy: "Enforce", deletionPolicy: "Delete" } as const;
const metadataOf = (key: string) => {
  const [name = "", namespace] = key.split("/").toReversed();
  return { name, uid: key, resourceVersion: "1", ...(namespace !== undefined && { namespace }) };
};
const a = (key: string, spec: object, id?: string): Claimant => ({
  metadata: metadataOf(key),
  spec: { ...policies, ...spec },
  ...(id !== undefined && { status: { id } }),
});

const appId = "app_00000000000000000000000001";
const gold = a("gold", {}, "gold");
const acme = a("acme", { plan: "gold", namespaces: ["n"] });
const rival = a("rival", { plan: "free", namespaces: ["n", "other"] });
const shop = a("n/shop", { channels: { ios: { secretRef: { name: "ios" } } } }, appId);
const observer = a("n/observer", { channels: {}, displayName: "shop", externalName: appId });
const backend = a("n/backend", { appRefs: ["shop"], connectionSecretName: "backend-connection" });
const free = a("n/free", { connectionSecretName: "free-connection" });
const headers = [{ name: "X-Key", valueFrom: { secretKeyRef: { name: "keys", key: "key" } } }];
const events = a("n/events", { appRef: "shop", secretName: "events-signing", headers });
const order = a("n/order", { appRef: "shop", name: "Order" });
const vips = a("n/vips", { appRef: "shop", name: "VIPs", kind: "list" }, "seg_vips");
const naming = (value: string) => ({ all: [{ field: "segment", op: "member", value }] });
const active = a("n/active", { appRef: "shop", name: "Active", kind: "filter", filter: naming("VIPs") });
const inside = a("n/inside", { appRef: "shop", name: "Inside", kind: "filter", filter: naming("seg_vips") });
const hello = a("n/hello", { appRef: "shop", name: "Hello", target: { includedSegments: ["VIPs"] }, variants: [] });
const lake = a("n/lake", { appRef: "shop", name: "Lake", destination: { secretRef: { name: "lake" } } });
const strangers: [string, Claimant][] = [
  ["Webhook", a("other/events", { appRef: "shop", secretName: "events-signing" })],
  ["LiveActivityType", a("n/parcel", { appRef: "warehouse", name: "Parcel" })],
  ["Segment", a("n/stock", { appRef: "warehouse", name: "Stock", kind: "filter", filter: naming("VIPs") })],
];

const world: [string, Claimant][] = [
  ["Plan", gold],
  ["Tenant", acme],
  ["Tenant", rival],
  ["App", shop],
  ["App", observer],
  ["ApiKey", backend],
  ["ApiKey", free],
  ["Webhook", events],
  ["LiveActivityType", order],
  ["InAppMessage", hello],
  ["WarehouseExport", lake],
  ["Segment", vips],
  ["Segment", active],
  ["Segment", inside],
  ...strangers,
];

const changed = (object: Claimant): StoreEvent<Claimant> => ({ kind: "changed", object, before: object });
const deleted = (object: Claimant): StoreEvent<Claimant> => ({ kind: "deleted", object });

/** Who has to be looked at again when something happens. */
const cases: { it: string; kind: string; event: StoreEvent<Claimant>; requeued: string[] }[] = [
  { it: "a Plan: its tenants", kind: planResource.kind, event: changed(gold), requeued: ["Tenant acme"] },
  {
    it: "a Tenant: who claims its namespaces, and the apps and keys in them",
    kind: tenantResource.kind,
    event: changed(acme),
    requeued: ["ApiKey n/backend", "ApiKey n/free", "App n/observer", "App n/shop", "Tenant rival"],
  },
  {
    it: "a Tenant that lets a namespace go: those in it, too",
    kind: tenantResource.kind,
    event: {
      kind: "changed",
      object: a("acme", { plan: "gold", namespaces: [] }),
      before: acme,
    },
    requeued: ["ApiKey n/backend", "ApiKey n/free", "App n/observer", "App n/shop", "Tenant rival"],
  },
  {
    it: "a Tenant that goes: its plan, too",
    kind: tenantResource.kind,
    event: deleted(acme),
    requeued: ["ApiKey n/backend", "ApiKey n/free", "App n/observer", "App n/shop", "Plan gold", "Tenant rival"],
  },
  {
    it: "an App: what names it, and who names its record or has its name",
    kind: appResource.kind,
    event: changed(shop),
    requeued: [
      "ApiKey n/backend",
      "App n/observer",
      "InAppMessage n/hello",
      "LiveActivityType n/order",
      "Segment n/active",
      "Segment n/inside",
      "Segment n/vips",
      "WarehouseExport n/lake",
      "Webhook n/events",
    ],
  },
  {
    it: "an App that goes: its tenant and the apps beside it, too",
    kind: appResource.kind,
    event: deleted(shop),
    requeued: [
      "ApiKey n/backend",
      "App n/observer",
      "InAppMessage n/hello",
      "LiveActivityType n/order",
      "Segment n/active",
      "Segment n/inside",
      "Segment n/vips",
      "Tenant acme",
      "Tenant rival",
      "WarehouseExport n/lake",
      "Webhook n/events",
    ],
  },
  { it: "an ApiKey: nobody", kind: apiKeyResource.kind, event: deleted(backend), requeued: [] },
  { it: "a Webhook: nobody", kind: webhookResource.kind, event: deleted(events), requeued: [] },
  {
    it: "a LiveActivityType: nobody",
    kind: liveActivityTypeResource.kind,
    event: changed(order),
    requeued: [],
  },
  {
    it: "a Segment: those that name it, by its name or id",
    kind: segmentResource.kind,
    event: changed(vips),
    requeued: ["InAppMessage n/hello", "Segment n/active", "Segment n/inside"],
  },
  {
    it: "a Segment that names another: that one",
    kind: segmentResource.kind,
    event: changed(active),
    requeued: ["Segment n/vips"],
  },
];

describe("what happens to an object requeues those that depend on it, for", () => {
  const made = () => {
    const stores = makeStores(allKinds);
    for (const [kind, object] of world) stores.ofKind(kind).put(object);
    return dependants(allKinds, stores);
  };
  const named = (found: readonly { kind: string; key: string }[]): string[] =>
    [...new Set(found.map(({ kind, key }) => `${kind} ${key}`))].toSorted();

  for (const { it: what, kind, event, requeued } of cases) {
    it(what, () => {
      expect(named(made().of(kind, event))).to.deep.equal(requeued);
    });
  }

  for (const [secret, requeued] of [
    ["ios", ["App n/shop"]],
    ["backend-connection", ["ApiKey n/backend"]],
    ["events-signing", ["Webhook n/events"]],
    ["keys", ["Webhook n/events"]],
    ["none", []],
  ] as const) {
    it(`the Secret ${secret}: ${requeued[0] ?? "nobody"}`, () => {
      const object = { metadata: metadataOf(`n/${secret}`) };
      expect(named(made().ofSecret({ kind: "added", object }))).to.deep.equal([...requeued]);
    });
  }

  it("a record: who names it, and who reports of it", () => {
    expect(named(made().ofRecord("apps", appId))).to.deep.equal(["App n/observer"]);
    expect(named(made().ofRecord("plans", "gold"))).to.deep.equal(["Plan gold"]);
    expect(named(made().ofRecord("webhooks", idOf(webhookResource, events)))).to.deep.equal(["Webhook n/events"]);
    expect(named(made().ofRecord("segments", idOf(segmentResource, active)))).to.deep.equal(["Segment n/active"]);
    expect(named(made().ofRecord("users", keyOf(events)))).to.deep.equal([]);
  });
});
