import { expect } from "chai";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import { until } from "../../../support/until.ts";
import { differences } from "../support/audit.ts";
import { type Gate, gateTo } from "../support/gate.ts";
import { type Installation, installation, label, type Manifest } from "../support/harness.ts";
import { type HttpLink, httpLinkTo } from "../support/http-link.ts";
import { manifests } from "../support/manifests.ts";
import { type DeletionGate, deletionGate } from "./deletion-gate.ts";

/** The API server does not see a finalizer that is written while it deletes (kubernetes/kubernetes#77988). */
describe("operator: a deletion that began before the finalizer was written", () => {
  let herald: Installation;
  let link: HttpLink;
  let writes: Gate;
  let deletions: DeletionGate;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    link = await httpLinkTo(herald.servers.kubeconfig);
    writes = await gateTo(herald.servers.mongodbUrl);
    await herald.start({ kubeconfig: link.kubeconfig, mongodbUrl: writes.url });
    await herald.apply(plan("first"));
    await herald.ready(plan("first"));
    deletions = await deletionGate(herald, plan("first"));
  });
  afterEach(() => {
    deletions.release();
  });
  after(async () => {
    await deletions?.close();
    await herald.close();
    await link.close();
    writes.close();
  });

  const plan = (name: string): Manifest => make.plan({}, `${herald.id}-${name}`);
  const rowOf = (name: string) => herald.db.collection<PlanRow>("plans").findOne({ _id: `${herald.id}-${name}` });
  const settled = () => until(async () => (await differences(herald)).length === 0, 25_000);

  /** Makes a plan and begins to delete it before the operator sees it; resolves when the deletion stands still. */
  const doomed = async (name: string): Promise<{ deleted: Promise<void> }> => {
    link.muteWatches();
    await herald.apply(plan(name));
    deletions.block();
    const deleted = herald.remove(plan(name));
    await until(() => deletions.blocked() === 1);
    return { deleted };
  };
  const end = async ({ deleted }: { deleted: Promise<void> }): Promise<void> => {
    deletions.release();
    await deleted;
  };

  it("takes the document and the stream along that were made meanwhile", async () => {
    const deletion = await doomed("made");
    link.cut();
    await herald.ready(plan("made"));
    await end(deletion);
    expect(await herald.get(plan("made"))).to.equal(null);
    await until(async () => (await rowOf("made")) === null, 25_000);
    await settled();
  });

  it("takes the document along that was on its way", async () => {
    const deletion = await doomed("under-way");
    writes.block();
    link.cut();
    await until(() => writes.blocked().includes("insert"), 25_000);
    await end(deletion);
    await writes.release();
    await until(async () => (await rowOf("under-way")) === null, 25_000);
    await settled();
  });

  it("leaves alone what is made under its name at once", async () => {
    const deletion = await doomed("again");
    link.cut();
    await herald.ready(plan("again"));
    link.muteWatches();
    await end(deletion);
    const { metadata } = await herald.apply(plan("again"));
    link.cut();
    await herald.ready(plan("again"));
    await settled();
    expect((await rowOf("again"))?.managed?.uid).to.equal(metadata.uid);
  });

  it("is not assumed when a watch says that an object lost its label: its document stays", async () => {
    let looks = 0;
    const isLook = ({ path }: { path: string }): boolean => {
      if (path.includes("fieldSelector=metadata.name")) looks++;
      return false;
    };
    link.answer(isLook, "silent", 1);
    await herald.apply(plan("unlabelled"));
    await herald.ready(plan("unlabelled"));
    await herald.patch(plan("unlabelled"), { metadata: { labels: { [label]: null } } });
    await until(() => looks > 0, 25_000);
    await herald.apply(plan("later"));
    await herald.ready(plan("later"));
    expect(await rowOf("unlabelled")).not.to.equal(null);
    await herald.apply(plan("unlabelled"));
    await settled();
  });
});
