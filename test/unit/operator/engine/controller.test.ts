import type { IncomingMessage } from "node:http";
import { addAbortSignal, PassThrough } from "node:stream";
import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import type { KubeClient, KubeRequest } from "#core/runtime/kube/client.ts";
import type { ObjectMeta, Resource } from "#core/runtime/kube/objects.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { planResource } from "#core/schema/plans/resource.ts";
import { controller } from "../../../../operator/engine/controller.ts";
import type { Handler } from "../../../../operator/engine/handler.ts";
import { controllerMetrics } from "../../../../operator/engine/metrics.ts";
import { finalizer } from "../../../../operator/engine/object-writer.ts";
import { scopeOf } from "../../../../operator/kube/scope.ts";
import { objectStore, type Store } from "../../../../operator/kube/store.ts";
import { until } from "../../../support/until.ts";

const aPlan = (metadata: Partial<ObjectMeta> = {}): Resource => ({
  metadata: { name: "gold", uid: "1", resourceVersion: "1", generation: 1, ...metadata },
  spec: {
    title: "Gold",
    apiRps: 10,
    webhookEndpoints: 5,
    retentionDays: 30,
    backlogPerTenant: 10,
    features: [],
    managementPolicy: "Enforce",
    deletionPolicy: "Delete",
  },
});
const guarded = (version: string): Resource => aPlan({ resourceVersion: version, finalizers: [finalizer] });

/** An API server on which there is nothing; its watch reports what the test says, and a write is answered by the test. */
const apiServer = () => {
  const events = new PassThrough();
  const written: ((answer: Resource) => void)[] = [];
  const answer = async (method: string, signal: AbortSignal): Promise<unknown> => {
    if (method !== "PATCH") return { metadata: { resourceVersion: "0" }, items: [] };
    const { promise, resolve, reject } = Promise.withResolvers<Resource>();
    written.push(resolve);
    signal.addEventListener("abort", () => reject(new Error("aborted")));
    return promise;
  };
  const client: KubeClient = {
    call: <T>({ method }: KubeRequest, signal: AbortSignal) => answer(method, signal) as Promise<T>, // a list or an object
    open: async (_request, signal) => addAbortSignal(signal, events) as unknown as IncomingMessage, // read as a stream only
    doubt: () => undefined,
    close: () => undefined,
  };
  const report = (type: string, object: Resource): void => void events.write(`${JSON.stringify({ type, object })}\n`);
  return { client, written, report };
};

describe("a controller whose object goes although it had our finalizer", () => {
  let server: ReturnType<typeof apiServer>;
  let stop: AbortController;
  let ended: Promise<unknown>;
  let store: Store<Resource>;
  const calls: string[] = [];
  let failures = 0;

  const handler: Handler<Resource> = {
    reconcile: async () => {
      calls.push("make");
      return { ready: { status: "True", reason: "Ready", message: "" }, isChanged: true };
    },
    remove: async () => {
      calls.push("remove");
      if (failures-- > 0) throw new Error("the documents are away");
      return null;
    },
  };

  beforeEach(async () => {
    calls.length = 0;
    failures = 0;
    store = objectStore();
    server = apiServer();
    stop = new AbortController();
    const { client } = server;
    const run = controller({
      definition: planResource,
      store,
      handler,
      onEvent: () => undefined,
      client,
      writes: client,
      report: () => undefined,
      concurrency: 1,
      scope: scopeOf({ watchNamespaces: [], watchSecrets: [] }),
      timing: { relistMs: 600_000, idleMs: 20_000 },
      clock: systemClock,
      log: createLog({ program: "operator", level: "fatal" }),
      metrics: controllerMetrics(createMetrics("operator"), "plan", 1),
    });
    const watching = run.watch(stop.signal);
    await run.synced;
    const term = { epoch: 1, stop: stop.signal, lost: stop.signal, isOver: () => false };
    ended = Promise.all([watching, run.lead(term)]);
    server.report("ADDED", aPlan());
    await until(() => server.written.length === 1);
  });
  afterEach(async () => {
    stop.abort();
    await ended;
  });

  it("makes nothing when the answer to the finalizer's write comes after it went, and does not keep it", async () => {
    server.report("DELETED", guarded("3"));
    await until(() => store.size() === 0);
    server.written[0]?.(guarded("2"));
    await until(() => calls.includes("remove"));
    expect(calls).to.deep.equal(["remove"]);
    expect(store.size()).to.equal(0);
  });

  it("keeps the object that was made under its name when such an answer comes", async () => {
    server.report("DELETED", guarded("3"));
    server.report("ADDED", aPlan({ uid: "2", resourceVersion: "4" }));
    await until(() => store.get("gold")?.metadata.uid === "2");
    server.written[0]?.(guarded("2"));
    await until(() => server.written.length === 2); // of the other one
    expect(calls).to.deep.equal(["remove"]);
    expect(store.get("gold")?.metadata.uid).to.equal("2");
  });

  it("tries again when what was made for it could not be taken away", async () => {
    failures = 1;
    server.written[0]?.(guarded("2"));
    await until(() => calls.includes("make") && server.written.length === 2);
    server.report("DELETED", guarded("3"));
    await until(() => store.size() === 0);
    server.written[1]?.(guarded("2"));
    await until(() => server.written.length === 3); // reports the failure
    server.written[2]?.(guarded("2"));
    await until(() => calls.length === 3);
    expect(calls).to.deep.equal(["make", "remove", "remove"]);
  });
});
