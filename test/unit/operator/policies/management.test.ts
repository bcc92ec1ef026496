import { expect } from "chai";
import { planResource } from "#core/schema/plans/resource.ts";
import { webhookResource } from "#core/schema/webhooks/resource.ts";
import type { Managed, ManagedRow } from "#core/storage/settings/managed.ts";
import { type Claimant, idOf, olderThan, type Situation, standOf } from "../../../../operator/policies/management.ts";

const id = `whk_${"0".repeat(26)}`;

type Options = { policy?: Claimant["spec"]["managementPolicy"]; named?: boolean; consents?: boolean; made?: boolean };

const aResource = (name: string, { policy = "Enforce", named = true, consents, made }: Options = {}): Claimant => ({
  metadata: {
    name,
    namespace: "shop",
    uid: `uid-${name}`,
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
    ...(consents && { annotations: { "herald.dev/adopt": id } }),
  },
  spec: { managementPolicy: policy, deletionPolicy: "Delete", ...(named && { externalName: id }) },
  ...(made && { status: { id } }),
});

const aRow = (managed: Partial<Managed> | null = null): ManagedRow => ({
  _id: id,
  managed: managed && {
    kind: "Webhook",
    namespace: "shop",
    name: "self",
    uid: "uid-self",
    policy: "Enforce",
    deletion: "Delete",
    epoch: 1,
    ...managed,
  },
  updated_at: new Date(0),
});

const stand = (over: Partial<Situation<ManagedRow>>) => {
  const { resource = aResource("self"), ...others } = over;
  const rest = {
    definition: webhookResource,
    what: "webhook",
    row: null,
    isReachable: true,
    owner: "tenant" as const,
    rivals: [],
  };
  return standOf<ManagedRow>({ ...rest, id, resource, ...others });
};

const reasonOf = (over: Partial<Situation<ManagedRow>>): string => {
  const found = stand(over);
  if (found.kind === "write") return found.isConfirmed ? "write" : "not confirmed";
  return found.finding.reason;
};

describe("policy: management", () => {
  const cases: { it: string; at: Partial<Situation<ManagedRow>>; is: string }[] = [
    { it: "makes a record of its own", at: { resource: aResource("self", { named: false }) }, is: "write" },
    { it: "makes no record of a name that was given", at: {}, is: "ExternalNotFound" },
    {
      it: "makes a record again that it had taken over",
      at: { resource: aResource("self", { made: true }) },
      is: "write",
    },
    {
      it: "makes no record again that was to be made once",
      at: { resource: aResource("self", { policy: "CreateOnly", named: false, made: true }) },
      is: "ExternalNotFound",
    },
    { it: "takes nothing over without consent", at: { row: aRow() }, is: "not confirmed" },
    {
      it: "takes over with consent",
      at: { row: aRow(), resource: aResource("self", { consents: true }) },
      is: "write",
    },
    {
      it: "asks nobody about a record of its own that somebody cut loose",
      at: { row: aRow(), resource: aResource("self", { named: false }) },
      is: "write",
    },
    { it: "needs no consent for what it has", at: { row: aRow({}) }, is: "write" },
    { it: "follows a resource of the same name that is gone", at: { row: aRow({ uid: "former" }) }, is: "write" },
    {
      it: "takes nothing from another resource, whoever consents",
      at: { row: aRow({ name: "other", uid: "uid-other" }), resource: aResource("self", { consents: true }) },
      is: "ManagedByAnother",
    },
    {
      it: "does not see another tenant's record",
      at: { row: aRow({}), isReachable: false, resource: aResource("self", { consents: true }) },
      is: "ExternalNotFound",
    },
    {
      it: "distinguishes a record of its own from another tenant's",
      at: { row: aRow({}), isReachable: false, resource: aResource("self", { named: false }) },
      is: "TenantChanged",
    },
    {
      it: "distinguishes a record of its own from another app's",
      at: { row: aRow({}), isReachable: false, owner: "app", resource: aResource("self", { named: false }) },
      is: "AppChanged",
    },
    {
      it: "observes what another manages",
      at: { row: aRow({ name: "other" }), resource: aResource("self", { policy: "Observe" }) },
      is: "Observed",
    },
    { it: "observes nothing", at: { resource: aResource("self", { policy: "Observe" }) }, is: "ExternalNotFound" },
    {
      it: "leaves what it made once",
      at: { row: aRow({}), resource: aResource("self", { policy: "CreateOnly", made: true }) },
      is: "CreateOnly",
    },
    {
      it: "finishes what it is to make once",
      at: { row: aRow({}), resource: aResource("self", { policy: "CreateOnly", named: false }) },
      is: "write",
    },
    {
      it: "gives way to an older resource that may take the record over, too",
      at: {
        row: aRow(),
        resource: aResource("self", { consents: true }),
        rivals: [aResource("a", { consents: true })],
      },
      is: "ManagedByAnother",
    },
    {
      it: "does not give way to one that has no consent",
      at: { row: aRow(), resource: aResource("self", { consents: true }), rivals: [aResource("a")] },
      is: "write",
    },
    {
      it: "does not give way to one that only looks",
      at: {
        row: aRow(),
        resource: aResource("self", { consents: true }),
        rivals: [aResource("a", { policy: "Observe", consents: true })],
      },
      is: "write",
    },
    {
      it: "does not give way when it has the record already",
      at: { row: aRow({}), rivals: [aResource("a", { consents: true })] },
      is: "write",
    },
    {
      it: "needs consent for a plan of the resource's name that is no resource's",
      at: { definition: planResource, row: aRow(), resource: aResource("self", { named: false }) },
      is: "not confirmed",
    },
  ];
  for (const { it: name, at, is } of cases) {
    it(name, () => {
      expect(reasonOf(at)).to.equal(is);
    });
  }

  it("names the resource that has the record", () => {
    const found = stand({ row: aRow({ name: "other", namespace: "team" }) });
    expect(found.kind === "refused" && found.finding.message).to.contain("Webhook team/other");
  });

  it("goes by the second of creation, then by uid", () => {
    const at = (name: string, creationTimestamp: string): Claimant => {
      const resource = aResource(name);
      return { ...resource, metadata: { ...resource.metadata, creationTimestamp } };
    };
    const self = at("m", "2026-01-01T00:00:01Z");
    const name = (others: Claimant[]): string | undefined => olderThan(self, others)?.metadata.name;
    expect(name([at("z", "2026-01-01T00:00:00Z"), at("a", "2026-01-01T00:00:01Z")])).to.equal("z");
    expect(name([at("n", "2026-01-01T00:00:01Z"), at("a", "2026-01-01T00:00:02Z")])).to.equal(undefined);
    expect(name([at("l", "2026-01-01T00:00:01Z")])).to.equal("l");
  });

  it("knows a record by the name that was given, else by the resource's uid, and a plan by its name", () => {
    expect(idOf(webhookResource, aResource("self"))).to.equal(id);
    const own = aResource("self", { named: false });
    expect(idOf(webhookResource, own))
      .to.match(/^whk_[0-9A-Z]{26}$/)
      .and.not.to.equal(id);
    expect(idOf(planResource, own)).to.equal("self");
  });
});
