import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import { programFile } from "../../../../dev/processes/programs.ts";
import { testTiming } from "../../../support/suite/soak.ts";
import { until } from "../../../support/until.ts";
import { type Gate, gateTo } from "../support/gate.ts";
import { environmentOf, type Installation, installation, type Started } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";
import { snapshotOf } from "../support/snapshot.ts";

type Process = { child: ChildProcess; output: () => string };

/** So long that another leads, and has done all that is looked at. */
const pausedMs = 2 * testTiming.leader.leaseMs;

describe("operator: a leader that stood still", () => {
  let herald: Installation;
  let gate: Gate;
  let make: ReturnType<typeof manifests>;
  const processes: ChildProcess[] = [];

  beforeEach(async () => {
    herald = await installation();
    make = manifests(herald);
    gate = await gateTo(herald.servers.mongodbUrl);
    await herald.apply(make.namespace);
  });
  afterEach(async () => {
    for (const child of processes.splice(0)) child.kill("SIGKILL");
    await herald.close();
    gate.close();
  });

  const plan = (name: string, spec: object = {}) => make.plan(spec, `${herald.id}-${name}`);
  const rowOf = (name: string) =>
    herald.db.collection<{ _id: string; api_rps: number }>("plans").findOne({ _id: `${herald.id}-${name}` });
  const leads = ({ log }: Started): boolean => log().includes("leadership.taken");

  const startOld = async (): Promise<Process> => {
    const env = environmentOf(herald, { HERALD_MONGODB_URL: gate.url });
    const child = spawn(process.execPath, [programFile("operator")], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    processes.push(child);
    const lines: string[] = [];
    child.stdout.on("data", (chunk) => lines.push(String(chunk)));
    const output = (): string => lines.join("");
    await until(() => output().includes("leadership.taken"), 60_000); // a cold start, with a new database's indexes
    return { child, output };
  };

  it("for two Leases in the middle of its writes has written nothing when it goes on, and stands by", async () => {
    const old = await startOld();
    const objects = [make.tenant(), make.iosSecret(), make.app(), make.apiKey(), make.webhook(), make.activityType()];
    for (const object of [make.plan(), ...objects, plan("changed"), plan("removed")]) await herald.apply(object);
    for (const object of [make.apiKey(), make.webhook(), make.activityType(), plan("changed"), plan("removed")])
      await herald.ready(object);
    const next = await herald.start();

    gate.block();
    await herald.apply(plan("changed", { apiRps: 111 }));
    await herald.apply(plan("made"));
    await herald.remove(plan("removed"));
    await until(() => gate.blocked().length === 3, 25_000);
    expect(gate.blocked().sort()).to.deep.equal(["delete", "insert", "update"]);
    old.child.kill("SIGSTOP");
    const stoppedAt = performance.now();

    await until(() => leads(next), 2 * testTiming.leader.leaseMs);
    for (const object of [plan("changed", {}), plan("made")]) await herald.ready(object);
    await herald.gone(plan("removed"));
    await herald.apply(plan("changed", { apiRps: 222 }));
    await herald.remove(plan("made"));
    await herald.gone(plan("made"));
    for (const object of [plan("removed", { apiRps: 5 }), plan("later")]) await herald.apply(object);
    for (const object of [plan("changed"), plan("removed"), plan("later")]) await herald.ready(object);
    expect(await rowOf("changed")).to.include({ api_rps: 222 });
    await until(() => performance.now() - stoppedAt >= pausedMs, pausedMs);
    const before = await snapshotOf(herald);

    await gate.release(); // what it had sent arrives now
    old.child.kill("SIGCONT");
    await until(() => old.output().includes("leadership.ended"));
    await until(async () => (await rowOf("made")) === null); // the late insert is taken back by its sender
    expect(await snapshotOf(herald)).to.deep.equal(before);
    expect(old.output()).to.not.include("worker.failed");
  });

  it("and then died leaves nothing of what it had sent", async () => {
    const old = await startOld();
    await herald.apply(plan("first"));
    await herald.ready(plan("first")); // its term has begun
    gate.block();
    await herald.apply(plan("made"));
    await until(() => gate.blocked().length === 1, 25_000);
    old.child.kill("SIGKILL");
    await once(old.child, "exit");
    const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${herald.id}`;
    await herald.client.call({ method: "DELETE", path }, AbortSignal.timeout(60_000)); // it would end by itself
    const next = await herald.start({ settings: { resyncSeconds: 2 } });
    await until(() => leads(next), 25_000);
    await herald.ready(plan("made"));
    await herald.remove(plan("made"));
    await herald.gone(plan("made"));
    await gate.release();
    await until(async () => (await rowOf("made")) === null, 25_000);
  });

  it("and is found out only later: the sweep removes what it inserted, and nothing else", async () => {
    const plans = herald.db.collection<PlanRow>("plans");
    const epochOf = async (name: string) => (await plans.findOne({ _id: `${herald.id}-${name}` }))?.managed?.epoch ?? 0;
    const first = await herald.start();
    await herald.apply(plan("first"));
    await herald.ready(plan("first"));
    await first.stop();
    const next = await herald.start({ settings: { resyncSeconds: 1 } });
    await until(async () => (await epochOf("first")) === 2, 25_000);
    const row = await plans.findOne({ _id: `${herald.id}-first` });
    const like = (name: string, managed: object) => ({ ...row!, _id: name, managed: { ...row!.managed!, ...managed } });
    const late = like("late", { name: "late", uid: "gone", epoch: 1 });
    const left = like("left", { name: "left", uid: "gone-without-finalizer", epoch: 2 });
    await plans.insertMany([late, left]);
    await until(() => next.log().includes("row.removed") && next.log().includes("row.orphaned"), 25_000);
    expect(await plans.find().sort({ _id: 1 }).toArray()).to.deep.equal([left, row].sort(byId));
  });

  it("and documents of a later term, restored beneath it, end its own: the next one takes them up", async () => {
    const plans = herald.db.collection<PlanRow>("plans");
    const started = await herald.start({ settings: { resyncSeconds: 10 } }); // the term is judged then
    await herald.apply(plan("restored"));
    await herald.ready(plan("restored"));
    await plans.updateOne({ _id: `${herald.id}-restored` }, { $set: { "managed.epoch": 7 } });
    await herald.apply(plan("restored", { apiRps: 333 }));
    await until(async () => {
      const synced = (await herald.get(plan("restored")))?.status?.conditions?.find(({ type }) => type === "Synced");
      return synced?.status === "False" && synced.message.includes("of a later term");
    }, 8_000);
    await until(async () => (await rowOf("restored"))?.api_rps === 333, 25_000);
    expect((await plans.findOne({ _id: `${herald.id}-restored` }))?.managed?.epoch).to.equal(8);
    expect(started.log()).to.include("reconcile.failed");
  });
});

const byId = (a: { _id: string } | null, b: { _id: string } | null): number =>
  (a?._id ?? "").localeCompare(b?._id ?? "");
