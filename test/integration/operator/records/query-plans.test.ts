import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { BSON } from "mongodb";
import { webhookStats } from "#core/storage/webhooks/stats.ts";
import { rootDir, testDir } from "../../../../dev/files/paths.ts";
import { faultsOf, fill, type QueryException } from "../../../support/queries/plans.ts";
import { queriesVariable, type RecordedQuery } from "../../../support/queries/record-queries.ts";
import { until } from "../../../support/until.ts";
import { environmentOf, type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("the queries of the operator", function () {
  this.timeout(300_000);
  let herald: Installation;
  let operator: ChildProcess;
  let dir: string;
  let queries: RecordedQuery[];

  before(async () => {
    herald = await installation();
    await herald.db.dropDatabase(); // the planner knows that a collection of a test before is empty, and reads it whole
    dir = await mkdtemp(join(testDir, "queries-"));
    const file = join(dir, "queries.jsonl");
    const recorder = new URL("../../../support/queries/record-queries.ts", import.meta.url).pathname;
    const env = { NODE_OPTIONS: `--import=${recorder}`, [queriesVariable]: file, HERALD_OPERATOR_RESYNC_SECONDS: "2" };
    operator = spawn(process.execPath, [join(rootDir, "operator/main.ts")], {
      env: environmentOf(herald, env),
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    operator.stdout?.on("data", (chunk) => {
      output += String(chunk);
    });
    await until(() => output.includes("leadership.taken"), 180_000); // a cold start, with a new database's indexes
    await exercise(herald);
    const recorded = async () => (await readFile(file, "utf8")).trim().split("\n");
    await until(async () => (await recorded()).some((line) => line.includes('"managed.uid":{"$gt":""}')), 20_000); // a sweep
    operator.kill("SIGTERM");
    await once(operator, "exit");
    queries = (await recorded()).map((line) => BSON.EJSON.parse(line) as RecordedQuery);
    await fill(herald.db, 10_000); // some of its documents are small, and many of them are read at once
  });

  after(async () => {
    operator.kill("SIGKILL");
    await herald.close();
    await rm(dir, { recursive: true, force: true });
  });

  it("are found in an index, and sorted by it", async () => {
    const faults = await faultsOf(herald.db, queries, exceptions);
    expect(faults, faults.map((fault) => JSON.stringify(fault)).join("\n")).to.deep.equal([]);
  });

  it("are reads and changes of the documents of every kind", () => {
    const kinds = [
      "plans",
      "tenants",
      "apps",
      "api_keys",
      "webhooks",
      "live_activity_types",
      "segments",
      "templates",
      "in_app_messages",
    ];
    const asked = (command: string) =>
      queries.filter((query) => query.command === command).map((one) => one.collection);
    for (const command of ["find", "update", "delete"]) expect(asked(command)).to.include.members(kinds);
    expect(asked("find")).to.include("webhook_stats");
  });
});

/** Queries that may read more than an index gives them, and why. */
const exceptions: readonly QueryException[] = [
  {
    of: ({ filter, sort }) => filter !== undefined && "managed.epoch" in filter && sort !== undefined,
    because: "the highest epoch is looked for when a process takes the lead, and with each resync",
  },
];

/** Makes, changes, refuses, lets go of and removes resources of every kind; one of each is left. */
const exercise = async (herald: Installation): Promise<void> => {
  const { id } = herald;
  const kept = manifests(herald);
  const gone = manifests(herald, `${id}-b`);
  const bucket = { endpointId: "whk_a", start: new Date(), requests: 1, succeeded: 1, latency: { 3: 1 } };
  await webhookStats(herald.db).add([bucket]);
  const parts = (of: typeof kept): Manifest[] => [
    of.app(),
    of.apiKey(),
    of.webhook(),
    of.activityType(),
    of.segment(),
    of.template(),
    of.inAppMessage({ status: "active", target: { includedSegments: ["Active"] } }),
  ];
  const other = [gone.plan({}, `${id}-other`), gone.tenant({ plan: `${id}-other` }, `${id}-other`)];
  await made(herald, [kept.namespace, kept.iosSecret(), gone.namespace, gone.iosSecret()], []);
  await made(herald, [kept.plan(), kept.tenant(), ...other, ...parts(kept), ...parts(gone)]);
  const refused = [
    kept.tenant({ displayName: `${id}-other`, namespaces: [`${id}-c`] }, `${id}-third`),
    kept.app({ displayName: "shop" }, "twin"),
    kept.activityType({}, "twin"),
    kept.segment({}, "twin"),
    kept.template({}, "twin"),
  ];
  for (const object of refused) await herald.apply(object);
  for (const object of refused) await herald.ready(object, "False", "NameTaken");
  await made(herald, [
    kept.template({ name: "Footer", kind: "partial" }, "footer"),
    kept.segment({ name: "List", kind: "list", filter: undefined }, "list"),
    kept.plan({ title: "Changed" }),
    kept.tenant({ contact: { email: "a@example.com" } }),
    kept.app({ timeZone: "Europe/Paris" }),
    kept.apiKey({ scopes: ["analytics:read"] }),
    kept.webhook({ description: "changed" }),
    kept.activityType({ description: "changed" }),
    kept.segment({ filter: { all: [{ field: "segment", op: "not_member", value: "List" }] } }),
    kept.template({ content: { contents: { en: '{% render "Footer" %}' } } }),
    gone.webhook({ deletionPolicy: "Retain" }, "retained"),
  ]);
  const removed = [gone.webhook({}, "retained"), ...refused, ...parts(gone), ...other.toReversed()];
  for (const object of removed) {
    await herald.remove(object);
    await herald.gone(object);
  }
};

const made = async (herald: Installation, objects: Manifest[], becomeReady = objects): Promise<void> => {
  for (const object of objects) await herald.apply(object);
  for (const object of becomeReady) await herald.ready(object);
};
