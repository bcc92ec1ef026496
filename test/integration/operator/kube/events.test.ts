import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { createLog } from "#core/runtime/process/log.ts";
import { bin } from "../../../../dev/files/paths.ts";
import { eventRecorder, spamFilter } from "../../../../operator/kube/events.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest, type Started } from "../support/harness.ts";
import { type HttpLink, httpLinkTo, type LinkRequest } from "../support/http-link.ts";
import { manifests, textOf } from "../support/manifests.ts";

type Event = {
  type: string;
  reason: string;
  message: string;
  count: number;
  involvedObject: { kind: string; name: string; uid: string };
};

/** What takes a second on a quiet machine. */
const soonMs = 30_000;

describe("operator: Kubernetes Events", () => {
  let herald: Installation;
  let link: HttpLink;
  let operator: Started;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    link = await httpLinkTo(herald.servers.kubeconfig);
    operator = await herald.start({ kubeconfig: link.kubeconfig, settings: { resyncSeconds: 1 } });
  });
  after(async () => {
    await herald?.close();
    await link?.close();
  });

  const eventsOf = async (object: Manifest): Promise<Event[]> => {
    const { metadata } = object;
    const { uid = "" } = (await herald.get(object))?.metadata ?? {};
    const path = `/api/v1/namespaces/${metadata.namespace ?? "default"}/events?fieldSelector=involvedObject.uid%3D${uid}`;
    return (await herald.client.call<{ items: Event[] }>({ method: "GET", path }, AbortSignal.timeout(soonMs))).items;
  };
  const reported = async (object: Manifest, reason: string): Promise<Event> => {
    const find = async () => (await eventsOf(object)).find((event) => event.reason === reason);
    await until(async () => (await find()) !== undefined, soonMs);
    return (await find()) as Event; // it was there a moment ago
  };

  it("report when a resource becomes ready and when it stops being so, as kubectl describe shows", async () => {
    await herald.apply(make.plan());
    await herald.apply(make.tenant());
    await herald.apply(make.app());
    expect(await reported(make.app(), "SecretNotFound")).to.include({
      type: "Warning",
      message: "spec.channels.ios: Secret ios does not exist; it has to have private_key",
    });
    await herald.apply(make.iosSecret());
    await herald.ready(make.app());
    expect(await reported(make.app(), "Reconciled")).to.include({ type: "Normal", count: 1 });
    const args = [
      "--kubeconfig",
      herald.servers.kubeconfig,
      "describe",
      "app.herald.dev",
      "shop",
      "-n",
      `${herald.id}-a`,
    ];
    const { stdout } = await promisify(execFile)(bin("kubectl"), args);
    expect(stdout).to.match(
      /Warning\s+SecretNotFound\s+\S+\s+herald-operator\s+spec.channels.ios: Secret ios does not exist/,
    );
  });

  it("report a repair, and count what comes again", async () => {
    const plans = herald.db.collection<{ _id: string; api_rps: number }>("plans");
    const drift = async (): Promise<void> => {
      await plans.updateOne({ _id: `${herald.id}-plan` }, { $set: { api_rps: 9 } });
      await until(async () => (await plans.findOne({ _id: `${herald.id}-plan` }))?.api_rps === 1_000, soonMs);
    };
    await drift();
    const first = await reported(make.plan(), "Repaired");
    expect(first).to.include({ type: "Normal", count: 1 });
    expect(first.involvedObject).to.include({ kind: "Plan", name: `${herald.id}-plan` });
    await drift();
    await until(async () => (await reported(make.plan(), "Repaired")).count === 2, soonMs);
    expect((await eventsOf(make.plan())).filter(({ reason }) => reason === "Repaired").length).to.equal(1);
  });

  it("report a token that was replaced, and not of one that was made", async () => {
    await herald.apply(make.apiKey());
    await herald.ready(make.apiKey());
    expect((await eventsOf(make.apiKey())).some(({ reason }) => reason === "Rotated")).to.equal(false);
    await herald.patch(make.apiKey(), { metadata: { annotations: { "herald.dev/rotate": "1" } } });
    expect(await reported(make.apiKey(), "Rotated")).to.include({
      message: "Secret backend-connection holds a new token",
    });
  });

  it("report a token that was replaced because its time had come", async () => {
    await herald.patch(make.apiKey(), { spec: { rotation: { everyHours: 1, overlapHours: 1 } } });
    const { status } = await herald.ready(make.apiKey());
    const longAgo = new Date(Date.now() - 7_200_000);
    const keys = herald.db.collection<{ _id: string; rotated_at: Date }>("api_keys");
    await keys.updateOne({ _id: status?.id ?? "" }, { $set: { rotated_at: longAgo } });
    await until(async () => (await reported(make.apiKey(), "Rotated")).count === 2, soonMs);
  });

  it("report a token that was replaced because its Secret was gone", async () => {
    const isReported = async (): Promise<boolean> =>
      (await eventsOf(make.apiKey())).some(
        ({ reason, message }) =>
          reason === "Rotated" && message === "Secret backend-connection was gone; a new one holds a new token",
      );
    await herald.remove(make.secret("backend-connection", {}));
    await until(isReported, soonMs);
  });

  it("report a signing secret that was replaced, and not of one that was made or written back", async () => {
    const webhook = make.webhook();
    await herald.apply(webhook);
    await herald.ready(webhook);
    await herald.remove(make.secret("events-signing", {}));
    await until(async () => (await herald.get(make.secret("events-signing", {}))) !== null, soonMs);
    await herald.patch(webhook, { metadata: { annotations: { "herald.dev/rotate": "1" } } });
    expect(await reported(webhook, "Rotated")).to.include({
      message: "Secret events-signing holds a new secret",
      count: 1,
    });
    expect((await eventsOf(webhook)).filter(({ reason }) => reason === "Rotated")).to.have.length(1);
  });

  describe("report a signing secret that was replaced", () => {
    const signingSecret = async (): Promise<string> =>
      textOf(await herald.get(make.secret("events-signing", {})), "secret");
    const rotate = async (to: string): Promise<void> => {
      const before = await signingSecret();
      await herald.patch(make.webhook(), { metadata: { annotations: { "herald.dev/rotate": to } } });
      await until(async () => (await signingSecret()) !== before, soonMs);
    };
    const timesReported = async (): Promise<number> => (await reported(make.webhook(), "Rotated")).count;
    const isReportedAgain = (before: number): Promise<void> =>
      until(async () => (await timesReported()) === before + 1, soonMs);
    const isEventWrite = ({ method, path }: LinkRequest): boolean =>
      method !== "GET" && /^\/api\/v1\/.*\/events(\/|$)/.test(path);
    const unavailable = { status: 503, reason: "ServiceUnavailable" } as const;
    afterEach(() => link.allow());

    it("also when the API server does not take the Event at once", async () => {
      const before = await timesReported();
      link.answer(isEventWrite, unavailable, 2);
      await rotate("2");
      await isReportedAgain(before);
      expect(link.left()).to.equal(0);
    });

    it("also when the answer to the Secret's write was lost", async () => {
      const before = await timesReported();
      link.answer(({ method, path }) => method === "PUT" && path.endsWith("/secrets/events-signing"), "lost", 1);
      await rotate("3");
      await isReportedAgain(before);
      expect(link.left()).to.equal(0);
    });

    it("also when the operator loses the Lease before the Event is written", async () => {
      const before = await timesReported();
      link.answer(isEventWrite, unavailable, Infinity);
      await rotate("4");
      link.answer(({ method, path }) => method === "PUT" && path.includes("/leases/"), unavailable, Infinity);
      await until(() => operator.log().includes("leadership.ended"), soonMs);
      link.allow();
      await isReportedAgain(before);
    });
  });

  it("come from an object at most 25 times at once, then once in five minutes", () => {
    const admits = spamFilter();
    const at = (seconds: number): Date => new Date(1_700_000_000_000 + seconds * 1000);
    const first = Array.from({ length: 30 }, () => admits("a", at(0))).filter(Boolean).length;
    expect(first).to.equal(25);
    expect([admits("a", at(200)), admits("b", at(200)), admits("a", at(301)), admits("a", at(302))]).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
  });

  it("are written ten a second at most, each once, also when one was removed meanwhile", async () => {
    const at: number[] = [];
    const paths: string[] = [];
    const report = eventRecorder({
      client: {
        call: async (request, signal) => {
          at.push(performance.now());
          paths.push(request.method);
          return herald.client.call(request, signal);
        },
      },
      holder: "test",
      clock: { now: () => new Date() },
      log: createLog({ program: "test", level: "error" }),
    });
    const plan = await herald.get(make.plan());
    const note = { type: "Normal", reason: "Tested", message: `by ${herald.id}` } as const;
    for (let n = 0; n < 12; n++) report("Plan", plan as never, { ...note, message: `${n} by ${herald.id}` });
    await until(() => at.length === 12, soonMs);
    expect(at[11]! - at[0]!).to.be.at.least(1_000);
    const [event] = (await eventsOf(make.plan())).filter(({ message }) => message === `3 by ${herald.id}`);
    const { name } = (event as unknown as { metadata: { name: string } }).metadata;
    const request = { method: "DELETE", path: `/api/v1/namespaces/default/events/${name}` } as const;
    await herald.client.call(request, AbortSignal.timeout(soonMs));
    report("Plan", plan as never, { ...note, message: `3 by ${herald.id}` });
    await until(() => paths.length === 14, soonMs);
    expect(paths.slice(12)).to.deep.equal(["PATCH", "POST"]);
  });
});
