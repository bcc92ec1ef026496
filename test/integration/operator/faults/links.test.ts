import { expect } from "chai";
import type { KubeClient } from "#core/runtime/kube/client.ts";
import { keyOf, type Resource } from "#core/runtime/kube/objects.ts";
import { collectionPath } from "#core/runtime/kube/paths.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { planResource } from "#core/schema/plans/resource.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import { reflector } from "../../../../operator/kube/reflector.ts";
import { objectStore } from "../../../../operator/kube/store.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Started } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";
import { type Link, linkTo } from "../support/proxy.ts";

describe("operator: a lost link to the API server loses nothing", () => {
  let herald: Installation;
  let link: Link;
  let started: Started;
  let make: ReturnType<typeof manifests>;

  const plan = (name: string, spec: object = {}) => make.plan(spec, `${herald.id}-${name}`);
  const rps = async (name: string): Promise<number | null> => {
    const row = await herald.db
      .collection<{ _id: string; api_rps: number }>("plans")
      .findOne({ _id: `${herald.id}-${name}` });
    return row?.api_rps ?? null;
  };

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    link = await linkTo(herald.servers.kubeconfig);
    started = await herald.start({ kubeconfig: link.kubeconfig, settings: { watchIdleSeconds: 1 } });
    await herald.apply(plan("first"));
    await herald.ready(plan("first"));
  });
  after(async () => {
    await herald.close();
    await link.close();
  });

  it("when the connections are reset between changes", async () => {
    for (let round = 1; round <= 5; round++) {
      link.cut();
      await herald.apply(plan("first", { apiRps: 100 + round }));
      await until(async () => (await rps("first")) === 100 + round, 25_000);
    }
  });

  it("when the API server is away while resources are made, changed, deleted and made anew", async () => {
    await herald.apply(plan("changed"));
    await herald.apply(plan("deleted"));
    await herald.apply(plan("renewed"));
    for (const name of ["changed", "deleted", "renewed"]) await herald.ready(plan(name));
    await link.shut();
    await herald.apply(plan("made"));
    await herald.apply(plan("changed", { apiRps: 77 }));
    await herald.remove(plan("deleted"));
    await herald.patch(plan("renewed"), { metadata: { finalizers: null } });
    await herald.remove(plan("renewed"));
    const { metadata } = await herald.apply(plan("renewed", { apiRps: 78 }));
    await link.open();
    await until(async () => (await rps("made")) === 1_000 && (await rps("changed")) === 77, 25_000);
    await herald.gone(plan("deleted"));
    expect(await rps("deleted")).to.equal(null);
    await herald.ready(plan("renewed"));
    const row = await herald.db.collection<PlanRow>("plans").findOne({ _id: `${herald.id}-renewed` });
    expect(row).to.deep.include({ api_rps: 78 });
    expect(row?.managed?.uid).to.equal(metadata.uid);
  });

  it("when the connections stay open but nothing passes any more", async () => {
    link.freeze();
    await herald.apply(plan("first", { apiRps: 55 }));
    await until(async () => (await rps("first")) === 55, 25_000); // a call in hand is given up after 10 s
    const restarts = await started.metrics.watchRestarts.get();
    expect(restarts.values.some(({ labels, value }) => labels.kind === "plan" && value > 0)).to.equal(true);
  });

  it("when the version to resume from is no longer kept", async () => {
    const store = objectStore<Resource>();
    let watches = 0;
    const tooOld: KubeClient = {
      ...herald.client,
      open: (request, signal) => {
        const path = watches++ === 0 ? request.path.replace(/resourceVersion=\d+/, "resourceVersion=1") : request.path;
        return herald.client.open({ ...request, path }, signal);
      },
    };
    const reasons: string[] = [];
    const { run, synced } = reflector<Resource>({
      client: tooOld,
      path: collectionPath(planResource),
      store,
      onEvents: () => {},
      onRestart: (reason) => reasons.push(reason),
      timing: { relistMs: 600_000, idleMs: 20_000 },
      log: createLog({ program: "test", level: "error" }),
    });
    const stop = new AbortController();
    const running = run(stop.signal);
    await synced;
    await herald.apply(plan("late"));
    await until(() => [...store.all()].some((object) => keyOf(object) === `${herald.id}-late`), 25_000);
    stop.abort();
    await running;
    expect(reasons[0]).to.equal("gone");
  });
});
