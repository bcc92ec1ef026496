import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { testDir } from "../../../../dev/files/paths.ts";
import { freePorts } from "../../../../dev/processes/free-ports.ts";
import { type ServerProcess } from "../../../../dev/processes/process.ts";
import { startProgram } from "../../../../dev/processes/programs.ts";
import { anApiKey, aSubscription, aUser, seed as store, testKeyRing } from "../../../support/rows/fixtures.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { aMessage } from "../../../support/rows/work.ts";
import { inSuite } from "../../../support/suite/soak.ts";
import { until } from "../../../support/until.ts";
import {
  environmentOf,
  type Installation,
  installation,
  type Manifest,
  type Seen,
  type Started,
} from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

/** Members that others write: the servers of streams, and dispatchers that serve an endpoint. */
const others = new Set(["epoch", "fence"]);
/** Of accounts that are tested again and again, only which they are. */
const seen = (collection: string) => (collection === "account_checks" ? { projection: { _id: 1 } } : {});
/**
 * Right again by themselves: what programs write and count while they run, events on their way, hashes of tokens that are no
 * longer good. The audit log stays on purpose (docs/reference/audit-log.md).
 */
const passing = new Set([
  "audit_log",
  "event_batches",
  "removals",
  "leases",
  "heartbeats",
  "key_uses",
  "status_days",
  "tenant_usage",
  "webhook_backlogs",
  "webhook_shares",
  "webhook_stats",
  "revoked_tokens",
]);

describe("operator: deletion in any order", () => {
  let herald: Installation;
  let started: Started;
  let dispatcher: ServerProcess;
  let dir: string;
  let first: ReturnType<typeof manifests>;
  let second: ReturnType<typeof manifests>;
  let namespaces: string[];
  let n = 0;

  before(async () => {
    herald = await installation();
    herald.settings.keyRing += `,${testKeyRing}`; // what the rows that no resource made are sealed with
    namespaces = ["a", "b", "c"].map((letter) => `${herald.id}-${letter}`);
    [first, second] = [manifests(herald, namespaces[0]), manifests(herald, namespaces[1])];
    for (const { namespace } of [first, second, manifests(herald, namespaces[2])]) await herald.apply(namespace);
    started = await herald.start();
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "deletion-"));
    const [healthPort = 0] = await freePorts(1);
    const env = { ...environmentOf(herald), HERALD_HEALTH_PORT: String(healthPort) } as Record<string, string>; // no holes
    dispatcher = await startProgram({ program: "dispatcher", name: "dispatcher", dir, healthPort, env });
    await everything(await made(bystander()));
  });
  after(async () => {
    await dispatcher?.kill();
    await herald?.close();
    await rm(dir, { recursive: true, force: true });
  });

  /** Another tenant, on a plan of its own, with one of everything. */
  const bystander = (): Manifest[] => {
    const of = manifests(herald, namespaces[2]);
    const [plan, tenant] = [`${herald.id}-other-plan`, `${herald.id}-other`];
    const all = [of.plan({}, plan), of.tenant({ plan }, tenant), of.iosSecret(), of.app(), of.apiKey()];
    return [...all, of.webhook(), of.activityType()];
  };
  /** A tenant with apps, keys, webhooks, types and Secrets in two namespaces. */
  const estate = (): { owners: Manifest[]; secrets: Manifest[]; owned: Manifest[] } => {
    const tenant = first.tenant({ namespaces: namespaces.slice(0, 2) }, `${herald.id}-tenant-${++n}`);
    return {
      owners: [first.plan({ apps: 5 }), tenant, first.app(), second.app({ displayName: "Blog" })],
      secrets: [first.iosSecret(), second.iosSecret()],
      owned: [
        first.apiKey(),
        first.apiKey({ appRefs: undefined }, "all"),
        second.apiKey(),
        first.webhook(),
        second.webhook(),
        second.webhook({}, "more"),
        first.activityType(),
        second.activityType({ name: "RideAttributes" }),
      ],
    };
  };
  const made = async (all: readonly Manifest[]): Promise<readonly Manifest[]> => {
    for (const object of all) await herald.apply(object);
    for (const object of all) if (object.kind !== "Secret") await herald.ready(object);
    return all;
  };
  /** What is of an app and no resource made it. */
  const everything = async (all: readonly Manifest[]): Promise<void> => {
    for (const app of all.filter(({ kind }) => kind === "App")) {
      const { status } = (await herald.get(app)) as Seen; // it was just made
      const of = { tenant_id: String(status?.["tenantId"]), app_id: status?.id ?? "" };
      const user = aUser(of);
      const subscriptions = [aSubscription({ ...of, user_id: user._id, token: randomUUID() })];
      await store(herald.db, { users: [user], subscriptions, apiKeys: [anApiKey({ tenant_id: of.tenant_id }).row] });
      const { db } = herald;
      await db.collection<WebhookRow>("webhooks").insertOne(aWebhook({ ...of, _id: `whk_${randomUUID()}` }));
      const id = `msg_${randomUUID()}`;
      await db.collection<MessageRow>("messages").insertOne(aMessage({ ...of, _id: id, status: "completed" }));
      await db.collection<LiveActivityTypeRow>("live_activity_types").insertOne(typeOf(of));
    }
  };

  /** All there is in the stores, the streams and the namespaces, but for what passes by itself. */
  const snapshot = async (): Promise<Record<string, unknown>> => {
    const collections = (await herald.db.listCollections().toArray()).map(({ name }) => name);
    const rows = collections
      .filter((name) => !passing.has(name))
      .map(
        async (name) =>
          [name, await herald.db.collection(name).find({}, seen(name)).sort({ _id: 1 }).toArray()] as const,
      );
    const secrets = namespaces.map(async (name) => [`secrets of ${name}`, await secretsIn(name)] as const);
    const streams: unknown[] = [];
    for await (const { config } of herald.nats.jsm.streams.list())
      if (config.name.startsWith(`${herald.id}-`)) streams.push(config);
    const all = Object.fromEntries(await Promise.all([...rows, ...secrets]));
    const text = JSON.stringify({ ...all, streams }, (key, value: unknown) => (others.has(key) ? undefined : value));
    return JSON.parse(text) as Record<string, unknown>; // sound: it was an object
  };
  const secretsIn = async (namespace: string): Promise<object[]> => {
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const { items } = await herald.client.call<{ items: Seen[] }>({ method: "GET", path }, AbortSignal.timeout(60_000));
    return items.map(({ metadata, data }) => ({ name: metadata.name, version: metadata.resourceVersion, data }));
  };

  /** What there is once a dispatcher has removed the data of apps; it asks again after 10 s when an app was still there. */
  const snapshotAfter = async (before: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const names = ["users", "subscriptions", "messages", "account_checks"];
    const isGone = async () => {
      const now = await snapshot();
      return names.every((name) => isDeepStrictEqual(now[name], before[name]));
    };
    await until(isGone, 30_000).catch(() => undefined); // the caller compares what is left
    return snapshot();
  };

  /** Makes everything, deletes it in an order, and compares what is left with what was there before. */
  const deleteIn = async (
    order: (all: ReturnType<typeof estate>) => readonly Manifest[],
    meanwhile = async () => {},
  ) => {
    const before = await snapshot();
    const all = estate();
    await made([...all.secrets, ...all.owners, ...all.owned]);
    await everything(all.owners);
    const doomed = order(all);
    for (const [i, object] of doomed.entries()) {
      await herald.remove(object);
      if (i === Math.floor(doomed.length / 2)) await meanwhile();
    }
    for (const object of doomed) await herald.gone(object);
    const after = await snapshotAfter(before);
    expect(Object.keys(after)).to.include.members(["webhooks", "api_keys", "messages", "streams"]);
    for (const [what, rows] of Object.entries(after)) expect(rows, what).to.deep.equal(before[what] ?? []);
  };

  const inOrder: { it: string; order: (all: ReturnType<typeof estate>) => readonly Manifest[] }[] = [
    { it: "owners first", order: ({ owners, secrets, owned }) => [...owners, ...secrets, ...owned] },
    { it: "Secrets first", order: ({ owners, secrets, owned }) => [...secrets, ...owned, ...owners] },
    {
      it: "what is owned first, the plan last",
      order: ({ owners, secrets, owned }) => [...owned, ...owners.toReversed(), ...secrets],
    },
    {
      it: "apps before what is theirs, the tenant before its apps",
      order: ({ owners: [plan, tenant, ...apps], secrets, owned }) => [tenant!, ...apps, ...owned, plan!, ...secrets],
    },
  ];
  for (const { it: name, order } of inOrder) it(`leaves nothing behind: ${name}`, () => deleteIn(order));

  for (let seed = 1; seed <= inSuite(2, { soak: 10 }); seed++) {
    it(`leaves nothing behind: all at once, shuffled by seed ${seed}`, () =>
      deleteIn(({ owners, secrets, owned }) => shuffled([...owners, ...secrets, ...owned], seed)));
  }

  it("leaves nothing behind when the operator is restarted in the middle of it", async () => {
    const restart = async () => {
      await started.stop();
      started = await herald.start();
    };
    for (const seed of inSuite([11], { soak: [11, 12] }))
      await deleteIn(({ owners, secrets, owned }) => shuffled([...owners, ...secrets, ...owned], seed), restart);
  });

  it("leaves the tenant and its other namespace alone when one namespace is emptied", async () => {
    const all = estate();
    const inFirst = ({ metadata }: Manifest) => metadata.namespace === namespaces[0];
    const rest = [...all.secrets, ...all.owners, ...all.owned].filter((object) => !inFirst(object));
    await made(rest);
    const before = await snapshot();
    const doomed = [...all.secrets, ...all.owners, ...all.owned].filter(inFirst);
    await made(doomed);
    for (const object of shuffled(doomed, 13)) await herald.remove(object);
    for (const object of doomed) await herald.gone(object);
    const after = await snapshotAfter(before);
    for (const [what, rows] of Object.entries(after)) expect(rows, what).to.deep.equal(before[what] ?? []);
    for (const object of rest) if (object.kind !== "Secret") await herald.ready(object);
    for (const object of rest) await herald.remove(object);
    for (const object of rest) await herald.gone(object);
  });
});

const typeOf = (of: { tenant_id: string; app_id: string }): LiveActivityTypeRow => {
  const schema = { type: "object" as const, properties: {} };
  const now = new Date();
  const name = randomUUID();
  const schemas = { content_state_schema: schema, attributes_schema: schema };
  const rest = { description: null, managed: null, created_at: now, updated_at: now };
  return { ...of, _id: `lat_${name}`, name, ...schemas, ...rest };
};

/** An order that a number decides, the same on each run. */
const shuffled = <T>(all: readonly T[], seed: number): T[] => {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0; // Numerical Recipes' generator
    return state / 2 ** 32;
  };
  return all
    .map((one) => ({ one, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
};
