import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import type { Seen } from "../../../kubectl/kit/cluster.ts";
import { treeDocument, treeText } from "../../../kubectl/status/print.ts";
import { treeOf } from "../../../kubectl/status/tree.ts";

const now = new Date("2026-01-01T01:00:00Z");

const resource = (
  kind: string,
  name: string,
  spec: object,
  over: { namespace?: string; ready?: string; status?: object } = {},
): Seen => ({
  kind,
  metadata: {
    name,
    uid: name,
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: "2026-01-01T00:00:00Z",
    ...(over.namespace !== undefined && { namespace: over.namespace }),
  },
  spec: { ...spec },
  status: {
    conditions: [
      {
        type: "Ready",
        status: over.ready === undefined ? "True" : "False",
        reason: over.ready ?? "Applied",
        message: over.ready === undefined ? "" : `why ${name}`,
        observedGeneration: 1,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
    ...over.status,
  },
});

const seen: Seen[] = [
  resource("Plan", "growth", {}),
  resource(
    "Tenant",
    "demo",
    { plan: "growth", namespaces: ["shop"] },
    { status: { usage: { lastHour: { deliveries: 1_200 }, webhookBacklog: 7 } } },
  ),
  resource(
    "App",
    "backend",
    {},
    {
      namespace: "shop",
      status: {
        accounts: [
          { channel: "ios_push", provider: "apns", result: "verified" },
          { channel: "email", provider: "smtp", result: "refused" },
        ],
      },
    },
  ),
  resource("App", "other", {}, { namespace: "shop" }),
  resource("ApiKey", "one", { appRefs: ["backend"], scopes: ["admin"] }, { namespace: "shop" }),
  resource("ApiKey", "all", { scopes: ["admin"] }, { namespace: "shop" }),
  resource(
    "Webhook",
    "events",
    { appRef: "backend" },
    {
      namespace: "shop",
      ready: "EndpointDisabled",
      status: { state: "disabled", health: { successRate1h: "12%", lastErrorClass: "timeout" } },
    },
  ),
  resource("Segment", "of-a-later-release", { appRef: "other" }, { namespace: "shop" }),
  resource("App", "stray", {}, { namespace: "nobodys" }),
  resource("Incident", "open", { severity: "minor", updates: [{ status: "investigating" }] }),
  resource("Incident", "over", { updates: [{ status: "investigating" }, { status: "resolved" }] }),
];

const all = { namespace: null, app: null };
const text = (roots: ReturnType<typeof treeOf>): string => treeText(roots, { isWide: false, terminal: null, now });

describe("the tree of kubectl herald status", () => {
  it("has what belongs to a Tenant below it, and says where trouble begins", () => {
    expect(text(treeOf(seen, all)).split("\n")).to.deep.equal([
      "RESOURCE                           READY   REASON             MORE",
      "Tenant demo                        True    Applied            plan growth, 1200 deliveries in the last hour, 7 webhooks waiting",
      "├─ App shop/backend                True    Applied",
      "│  ├─ Channel ios_push             True    Verified           apns",
      "│  ├─ Channel email                False   AccountRefused     smtp; the provider does not take the account",
      "│  ├─ ApiKey one                   True    Applied            admin",
      "│  └─ Webhook events               False   EndpointDisabled   disabled, 12% succeed, last error timeout; why events",
      "├─ App shop/other                  True    Applied",
      "│  └─ Segment of-a-later-release   True    Applied",
      "└─ ApiKey shop/all                 True    Applied            admin",
      "Namespace nobodys                  False   NoTenant           no Tenant names this namespace",
      "└─ App nobodys/stray               True    Applied",
      "Incident open                      True    Applied            minor",
      "",
      "First cause: Channel shop/email: AccountRefused: the provider does not take the account. 2 more are not Ready.",
      "",
    ]);
  });

  it("shows one App with its Tenant, or one namespace", () => {
    const named = treeOf(seen, { namespace: "shop", app: "other" });
    expect(named.map(({ name, children }) => [name, children.map((child) => child.name)])).to.deep.equal([
      ["demo", ["other"]],
    ]);
    const inNamespace = treeOf(seen, { namespace: "nobodys", app: null });
    expect(inNamespace.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal(["Namespace nobodys"]);
  });

  it("begins with a Plan that is not Ready, as all below it follows from that", () => {
    const plan = resource("Plan", "growth", {}, { ready: "InUse" });
    const { ready, firstCause } = treeDocument(treeOf([plan, ...seen.slice(1)], all));
    expect({ ready, name: firstCause?.name }).to.deep.equal({ ready: false, name: "growth" });
  });

  it("takes a version that the operator has not seen for pending", () => {
    const [app] = seen.filter(({ kind }) => kind === "App");
    const changed = { ...app, metadata: { ...app?.metadata, generation: 2 } } as Seen;
    expect(treeDocument(treeOf([changed], all)).notReady).to.deep.include({
      kind: "App",
      namespace: "shop",
      name: "backend",
      ready: "Pending",
      reason: "NotReconciled",
      message: "the operator has not seen this version yet",
    });
  });

  it("cuts the last column where the terminal ends, and colours what is not Ready", () => {
    const shown = treeText(treeOf(seen, all), { isWide: false, terminal: { columns: 90, hasColours: true }, now });
    const bare = stripVTControlCharacters(shown);
    expect(
      Math.max(
        ...bare
          .split("\n")
          .slice(0, -2)
          .map((line) => line.length),
      ),
    ).to.be.at.most(90);
    expect(shown).to.contain("\u001b[31mFalse");
  });
});
