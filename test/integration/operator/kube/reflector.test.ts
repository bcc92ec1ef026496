import { expect } from "chai";
import { type KubeClient, kubeClient } from "#core/runtime/kube/client.ts";
import { connection } from "#core/runtime/kube/connection.ts";
import type { KubeObject } from "#core/runtime/kube/objects.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { reflector } from "../../../../operator/kube/reflector.ts";
import { objectStore, type Store } from "../../../../operator/kube/store.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { type HttpLink, httpLinkTo, type LinkRequest } from "../support/http-link.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: a collection of several pages", () => {
  let herald: Installation;
  let link: HttpLink;
  let namespace: string;
  let client: KubeClient;
  let running: AbortController;
  let ended: Promise<void>;
  let store: Store<KubeObject>;

  const secret = (name: string): Manifest => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
  });
  const names = ["a", "b", "c", "d", "e"];
  const isFurtherPage = ({ path }: LinkRequest): boolean => path.includes("continue=");
  const seen = (): string[] => [...store.all()].map(({ metadata }) => metadata.name).toSorted();

  before(async () => {
    herald = await installation();
    const { namespace: own } = manifests(herald);
    namespace = own.metadata.name;
    await herald.apply(own);
    for (const name of names) await herald.apply(secret(name));
    link = await httpLinkTo(herald.servers.kubeconfig);
    client = kubeClient({ connection: connection({ KUBECONFIG: link.kubeconfig }) });
  });
  beforeEach(() => {
    running = new AbortController();
    store = objectStore();
  });
  afterEach(async () => {
    link.allow();
    running.abort();
    await ended;
  });
  after(async () => {
    client?.close();
    await link?.close();
    for (const name of names) await herald.remove(secret(name));
    await herald.close();
  });

  /** Follows the Secrets by pages of two; resolves when all have been listed. */
  const follow = async (): Promise<void> => {
    const { run, synced } = reflector<KubeObject>({
      client,
      path: `/api/v1/namespaces/${namespace}/secrets`,
      labelSelector: herald.settings.labelSelector,
      store,
      onEvents: () => undefined,
      onRestart: () => undefined,
      pageSize: 2,
      timing: { relistMs: 600_000, idleMs: 20_000 },
      log: createLog({ program: "operator", level: "fatal" }),
    });
    ended = run(running.signal);
    await synced;
  };

  it("is read to its end, and followed from there", async () => {
    await follow();
    expect(seen()).to.deep.equal(names);
    await herald.apply(secret("f"));
    await until(() => seen().includes("f"));
    await herald.remove(secret("f"));
    await until(() => !seen().includes("f"));
  });

  it("is read anew when the API server no longer has the next page", async () => {
    link.answer(isFurtherPage, { status: 410, reason: "Expired" }, 2);
    await follow();
    expect(link.left()).to.equal(0);
    expect(seen()).to.deep.equal(names);
  });
});
