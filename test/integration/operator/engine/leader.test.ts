import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { hashOf } from "#core/domain/api-keys/hashes.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import { freePorts } from "../../../../dev/processes/free-ports.ts";
import { answersHttp } from "../../../../dev/processes/process.ts";
import { programFile } from "../../../../dev/processes/programs.ts";
import { until } from "../../../support/until.ts";
import { environmentOf, type Installation, installation } from "../support/harness.ts";
import { manifests, textOf } from "../support/manifests.ts";

describe("operator: one of several leads", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  const processes = new Set<ChildProcess>();

  const leasePath = () => `/apis/coordination.k8s.io/v1/namespaces/default/leases/${herald.id}`;
  type Lease = {
    metadata: object;
    spec: { holderIdentity?: string; acquireTime?: string; renewTime?: string; leaseDurationSeconds?: number };
  };
  const lease = (): Promise<Lease | null> =>
    herald.client.call<Lease>({ method: "GET", path: leasePath() }, AbortSignal.timeout(60_000)).catch(() => null);
  const holder = async (): Promise<string> => (await lease())?.spec.holderIdentity ?? "";

  const spawnOperator = (more: NodeJS.ProcessEnv = {}): ChildProcess => {
    const child = spawn(process.execPath, [programFile("operator")], {
      env: environmentOf(herald, more),
      stdio: ["ignore", "ignore", "inherit"],
    });
    processes.add(child);
    return child;
  };

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
  });
  after(async () => {
    for (const child of processes) child.kill("SIGKILL");
    await herald.close();
  });

  it("hands over at a SIGTERM without waiting for the end of the Lease, and exits with 0", async () => {
    const first = spawnOperator();
    await until(async () => (await holder()) !== "", 40_000);
    const firstHolder = await holder();
    const [healthPort = 0] = await freePorts(1);
    const second = spawnOperator({ HERALD_HEALTH_PORT: String(healthPort) });
    await until(() => answersHttp(`http://127.0.0.1:${healthPort}/readyz`), 40_000); // it has listed everything
    const endedAt = Date.now();
    first.kill("SIGTERM");
    const [code] = (await once(first, "exit")) as [number];
    await until(async () => !["", firstHolder].includes(await holder()), 25_000);
    const takenAt = Date.parse((await lease())?.spec.acquireTime ?? "");
    expect(code).to.equal(0);
    expect(takenAt - endedAt).to.be.below(10_000); // a second on a quiet machine; a Lease that is not given back ends after 15 s
    await herald.apply(make.plan());
    await herald.ready(make.plan());
    second.kill("SIGTERM");
    await once(second, "exit");
  });

  it("goes on where a killed one stopped: every key has the token that is in its Secret", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `key-${index}`);
    const first = spawnOperator();
    await until(async () => (await holder()) !== "", 40_000);
    await herald.apply(make.tenant());
    await herald.ready(make.tenant());
    await Promise.all(names.map((name) => herald.apply(make.apiKey({ appRefs: undefined }, name))));
    await until(async () => (await herald.db.collection("api_keys").countDocuments()) > 3, 25_000);
    first.kill("SIGKILL");
    await once(first, "exit");
    await herald.client.call({ method: "DELETE", path: leasePath() }, AbortSignal.timeout(60_000)); // it would end after 15 s
    const second = await herald.start();
    for (const name of names) await herald.ready(make.apiKey({}, name));
    const rows = await herald.db.collection<ApiKeyRow>("api_keys").find().toArray();
    expect(rows.length).to.equal(names.length);
    for (const { hashes, managed } of rows) {
      const secret = await herald.get(make.secret(`${managed?.name}-connection`, {}));
      expect(hashes).to.deep.equal([{ hash: hashOf(textOf(secret, "token")), expires_at: null }]);
    }
    await second.stop();
  });

  it("writes nothing while another has the Lease", async () => {
    const started = await herald.start();
    await until(async () => (await started.metrics.leader.get()).values.some(({ value }) => value === 1), 25_000);
    const taken = async (holderIdentity: string): Promise<void> => {
      const body = {
        spec: { holderIdentity, leaseDurationSeconds: 60, renewTime: new Date().toISOString().replace("Z", "000Z") },
      };
      await herald.client.call({ method: "PATCH", path: leasePath(), body }, AbortSignal.timeout(60_000));
    };
    await taken("somebody-else");
    await until(() => started.log().includes("leadership.ended"), 25_000);
    await herald.apply(make.plan({ apiRps: 123 }));
    const givenBackAt = new Date();
    await taken("");
    await herald.ready(make.plan());
    const row = await herald.db
      .collection<{ _id: string; updated_at: Date }>("plans")
      .findOne({ _id: `${herald.id}-plan` });
    expect(row?.updated_at.getTime()).to.be.at.least(givenBackAt.getTime());
  });
});
