import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { appResource } from "#core/channels/app-resource.ts";
import { collectionPath } from "#core/runtime/kube/paths.ts";
import { webhookResource } from "#core/schema/webhooks/resource.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { selfSigned } from "../../../dev/simulators/kit/certificate.ts";
import { resultOf } from "../../../dispatcher/messages/delivery/delivery-row.ts";
import { anAttempt } from "../../support/rows/work.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { type System, type SystemProgram, startSystem } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { ran } from "../../unit/kubectl/ran.ts";
import { type Installation, installation, type Manifest } from "../operator/support/harness.ts";
import { manifests } from "../operator/support/manifests.ts";
import { clusterNetwork } from "./support/cluster-network.ts";
import { kubeconfigsIn } from "./support/kubeconfigs.ts";
import { givePod } from "./support/pods.ts";

const address = "10.20.30.40"; // of a pod that there is not
const soon = (): AbortSignal => AbortSignal.timeout(60_000);

/** A push that was sent just now. */
const untold = ({ tenant_id, _id: app_id }: { tenant_id: string; _id: string }): DeliveryRow => {
  const made = resultOf({ kind: "sent", providerId: null }, anAttempt({ now: new Date() }));
  if (made.kind !== "final") throw new Error("a sent push is final");
  return { ...made.row, tenant_id, app_id };
};

describe("kubectl herald and the REST interface, by a real API server", () => {
  let herald: Installation;
  let system: System;
  let apiserver: SystemProgram;
  let network: { close: () => Promise<void> };
  let dir: string;
  let namespace: string;
  let kubeconfigOf: Record<"sender" | "viewer" | "outsider", string>;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "herald-kubectl-"));
    herald = await installation();
    const make = manifests(herald);
    namespace = make.namespace.metadata.name;
    await herald.apply(make.namespace);
    system = await startSystem({
      ...herald.servers,
      apns: { url: "https://127.0.0.1:9", credentials: testCredentials() },
    });
    apiserver = await system.start("apiserver");
    network = await clusterNetwork(herald.servers.kubeconfig, apiserver.url);
    await giveService();
    await herald.apply(make.apiKey());
    await herald.apply(make.secret("backend-connection", { token: system.token, app_id: system.app._id }));
    await withId(make.app({ channels: {} }), collectionPath(appResource, { namespace }), system.app._id);
    kubeconfigOf = await people();
    await rest("POST", "/users", { external_id: "ada" });
    await rest("POST", "/users/by/external_id/ada/subscriptions", { channel: "ios_push", token: "a".repeat(64) });
  });
  after(async () => {
    for (const kind of ["services", "endpoints", "pods"])
      await post(`/api/v1/namespaces/${namespace}/${kind}/apiserver`, undefined, "DELETE").catch(() => undefined);
    await network?.close();
    await system?.stop();
    await herald?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const post = (path: string, body?: object, method: "POST" | "DELETE" = "POST"): Promise<unknown> =>
    herald.client.call({ method, path, ...(body && { body }) }, soon());

  /** A Service as the chart makes it, whose address is what the network of the test leads to. */
  const giveService = async (): Promise<void> => {
    const labels = { "app.kubernetes.io/part-of": "herald", "app.kubernetes.io/component": "apiserver" };
    const ports = [{ name: "http", port: 80 }];
    await post(`/api/v1/namespaces/${namespace}/services`, {
      metadata: { name: "apiserver", labels },
      spec: { ports },
    });
    await givePod(herald, namespace, { name: "apiserver", ip: address, labels: {} });
    const targetRef = { kind: "Pod", namespace, name: "apiserver" };
    const subsets = [{ addresses: [{ ip: address, targetRef }], ports }];
    await post(`/api/v1/namespaces/${namespace}/endpoints`, { metadata: { name: "apiserver" }, subsets });
  };

  /** What the operator would have written into its status. */
  const withId = async (object: Manifest, path: string, id: string): Promise<void> => {
    await herald.apply(object);
    const status = { conditions: [], id };
    const at = `${path}/${object.metadata.name}/status`;
    await herald.client.call({ method: "PATCH", path: at, body: { status } }, soon());
  };

  const people = async () => {
    const files = kubeconfigsIn(dir, herald);
    const ours = { apiGroups: ["herald.dev"], resources: ["apikeys", "apps", "webhooks"], verbs: ["get", "list"] };
    const proxy = { apiGroups: [""], resources: ["services/proxy"], verbs: ["get", "create"] };
    const secrets = { apiGroups: [""], resources: ["secrets"], verbs: ["get"] };
    return {
      sender: await files.of(namespace, "sender", [ours, proxy, secrets]),
      viewer: await files.of(namespace, "viewer", [ours, proxy]),
      outsider: await files.of(namespace, "outsider", [ours, secrets]),
    };
  };

  const rest = async (method: string, path: string, body: object) => {
    const reply = await fetch(`${apiserver.url}/v1/apps/${system.app._id}${path}`, {
      method,
      headers: { "x-api-key": system.token, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(await reply.text());
    return (await reply.json()) as { id: string };
  };

  /** Members of what commands print as JSON that are looked at. */
  type Printed = {
    id: string;
    recipients_estimate: number;
    recipients: number;
    status: string;
    since: string;
    is_planned: boolean;
    conditions: { passed: boolean }[];
    changed: object[];
  };
  type Who = keyof typeof kubeconfigOf;
  const run = (who: Who, args: string[], stdin = "") => {
    const here = ["-n", namespace, "--service", `${namespace}/apiserver`];
    return ran([...args, ...here], { stdin, env: { KUBECONFIG: kubeconfigOf[who] } });
  };
  const json = async (args: string[], stdin = "") => {
    const { code, out, err } = await run("sender", [...args, "-o", "json"], stdin);
    expect(err).to.equal("");
    return { code, body: JSON.parse(out) as Printed };
  };
  const sent = () => system.db.collection("messages").countDocuments({ app_id: system.app._id });
  const hello = (target?: object) => JSON.stringify({ contents: { en: "Hello" }, ...(target && { target }) });

  it("sends to a person, once for a key, by the rights of somebody who may read the Secret", async () => {
    const args = ["send", "-f", "-", "--to", "ada", "--idempotency-key", "one"];
    const first = await json(args, hello({ all: true }));
    const again = await json(args, hello({ all: true }));
    expect(first.code).to.equal(0);
    const why = await run("sender", ["why", first.body.id, "ada"]);
    expect(why).to.include({ code: 1, err: "" }); // no dispatcher runs
    expect(why.out)
      .to.match(/^It is not decided yet: /)
      .and.match(/targeted +pass .*"by":\["ids"\]/);
    const summary = await json(["why", first.body.id]);
    expect(summary.body).to.include({ recipients: 0, is_planned: false });
    expect(first.body.recipients_estimate).to.equal(1);
    expect(again.body.id).to.equal(first.body.id);
  });

  it("sends nothing for somebody who may not read the Secret, or may not use the proxy", async () => {
    const before = await sent();
    const viewer = await run("viewer", ["send", "-f", "-", "--to", "ada"], hello());
    expect(viewer.code).to.equal(3);
    expect(viewer.err).to.contain(`you may not read the Secret ${namespace}/backend-connection of ApiKey backend`);
    const outsider = await run("outsider", ["send", "-f", "-", "--to", "ada"], hello());
    expect(outsider.code).to.equal(3);
    expect(outsider.err).to.contain("you may not use the proxy of the apiserver's Service");
    expect(await sent()).to.equal(before);
  });

  it("sends nothing to everybody but when that is said, and counts them without sending", async () => {
    const before = await sent();
    for (const target of [
      { all: true },
      { included_segments: ["A"] },
      { filters: { all: [] } },
      { include_external_ids: ["ada"], included_segments: ["A"] },
    ]) {
      const { code, err } = await run("sender", ["send", "-f", "-"], hello(target));
      expect({ code, isSaid: err.includes("--broadcast") }, JSON.stringify(target)).to.deep.equal({
        code: 2,
        isSaid: true,
      });
    }
    const { code, body } = await json(["send", "-f", "-", "--dry-run"], hello({ all: true }));
    expect({ code, recipients: body.recipients }).to.deep.equal({ code: 0, recipients: 1 });
    const nobody = await run("sender", ["send", "-f", "-", "--dry-run", "--to", "nobody"], hello());
    expect(nobody).to.include({ code: 1, err: "" });
    expect(nobody.out).to.contain("It would reach 0 subscriptions. Nothing was sent.").and.contain("nobody");
    expect(await sent()).to.equal(before);
    const { code: all } = await run("sender", ["send", "-f", "-", "--broadcast"], hello({ all: true }));
    expect({ all, sent: await sent() }).to.deep.equal({ all: 0, sent: before + 1 });
  });

  it("says what is wrong with a notification before it asks anybody, and what the REST interface says after", async () => {
    const offline = await run("sender", ["send", "-f", "-", "--to", "ada"], '{"contents": {"en": 1}, "tll": 5}');
    expect(offline.code).to.equal(2);
    expect(offline.err).to.contain("contents.en").and.contain("tll");
    const refused = await run("sender", ["segment", "preview", "-f", "-"], '{"all": [{"field": "x", "op": "eq"}]}');
    expect(refused.code).to.equal(3);
    expect(refused.err).to.match(/^error: HS_VALIDATION_ERROR: filter/);
    const unknown = await run("sender", ["segment", "explain", "Nobody", "ada"]);
    expect(unknown).to.include({ code: 3, err: 'error: the app has no segment "Nobody"\n' });
  });

  it("explains and previews a segment", async () => {
    const filter = { all: [{ field: "tags.tier", op: "eq", value: "gold" }] };
    await rest("POST", "/segments", { name: "Gold", filter });
    const file = join(dir, "filter.yaml");
    await writeFile(file, "all:\n  - {field: tags.tier, op: eq, value: gold}\n");
    const explained = await json(["segment", "explain", "Gold", "ada"]);
    expect(explained.code).to.equal(1);
    expect(explained.body.conditions[0]).to.include({ path: "filter.all[0]", value: null, passed: false });
    const preview = await run("sender", ["segment", "preview", "-f", file]);
    expect(preview).to.include({ code: 0, err: "" });
    expect(preview.out).to.contain("0 users, 0 subscribed subscriptions");
  });

  it("renders a template for a person", async () => {
    await rest("POST", "/templates", {
      name: "Hi",
      content: { contents: { en: "Hi {{ user.external_id }} {{ custom_data.x }}" } },
    });
    const rendered = await run("sender", ["template", "render", "Hi", "--to", "ada", "--channel", "ios_push"]);
    expect(rendered.code, rendered.err).to.equal(0);
    expect(rendered.out).to.contain("Hi ada").and.contain("custom_data.x");
  });

  it("recovers an endpoint, and refuses a window that is none", async () => {
    const { id } = await rest("POST", "/webhooks", { url: "https://127.0.0.1/a", events: ["delivery.sent"] });
    const webhook = manifests(herald).webhook();
    await withId(webhook, collectionPath(webhookResource, { namespace }), id);
    const begun = await json(["webhook", "recover", "events", "--since", "2h"]);
    expect(begun.code).to.equal(0);
    expect(begun.body.status).to.be.oneOf(["running", "completed"]);
    expect(Date.now() - Date.parse(begun.body.since)).to.be.within(7_200_000, 7_260_000);
    const again = await run("sender", ["webhook", "replay", "events", "--since", "1h", "--status", "dead"]);
    expect(again.code).to.equal(3);
    expect(again.err).to.contain("HS_CONFLICT");
    expect((await run("sender", ["webhook", "recover", "events", "--since", "soon"])).code).to.equal(2);
    const gone = await run("sender", ["webhook", "replay", "events", "--delivery", "whd_01J9ZK3V5T8Q2N7R4W6X1Y0ABC"]);
    expect(gone.err).to.contain("HS_NOT_FOUND");
  });

  it("has deliveries counted again, and tells of a number that was wrong", async () => {
    const dispatcher = await system.start("dispatcher");
    const delivery = untold(system.app);
    const to = new Date((Math.floor(delivery.created_at.getTime() / 900_000) + 1) * 900_000);
    const range = ["--from", new Date(to.getTime() - 7_200_000).toISOString(), "--to", to.toISOString()];
    await collectionOf<DeliveryRow>(system.db, deliveryCollection).insertOne(delivery); // nobody has it counted
    const wrong = await json(["verify", "counts", ...range]);
    const right = await json(["verify", "counts", ...range]);
    await dispatcher.kill();
    expect([wrong.code, right.code]).to.deep.equal([1, 0]);
    const ofOne = { channel: "ios_push", before: 0, now: 1 };
    expect(wrong.body.changed).to.deep.equal(["targeted", "sent"].map((metric) => ({ ...ofOne, metric })));
    expect(right.body.changed).to.deep.equal([]);
    for (const args of [
      ["--from", "soon"],
      ["--to", "2026-11-02T00:01:00Z"],
      ["--timeout", "long"],
    ])
      expect((await run("sender", ["verify", "counts", ...args])).code, args.join(" ")).to.equal(2);
  });

  it("finds the Service by its labels, and shows the token nowhere", async () => {
    const args = ["send", "-f", "-", "--to", "ada", "-n", namespace, "--app", "shop"];
    const { code, out, err } = await ran(args, { stdin: hello(), env: { KUBECONFIG: herald.servers.kubeconfig } });
    expect(code, err).to.equal(0);
    expect(out + err).to.not.contain(system.token);
    const log = JSON.stringify(await apiserver.log());
    expect(log).to.contain("request.handled").and.not.contain(system.token);
  });

  it("finds an apiserver that serves TLS, too, or is told so", async () => {
    const tlsDir = join(dir, "tls");
    await mkdir(tlsDir);
    const { cert, key } = selfSigned();
    await Promise.all([writeFile(join(tlsDir, "tls.crt"), cert), writeFile(join(tlsDir, "tls.key"), key)]);
    const secured = await system.start("apiserver", { HERALD_HTTP_TLS_DIR: tlsDir });
    await network.close();
    network = await clusterNetwork(herald.servers.kubeconfig, secured.url);
    const body = { spec: { ports: [{ name: "http", port: 80, appProtocol: "https" }] } };
    const path = `/api/v1/namespaces/${namespace}/services/apiserver`;
    await herald.client.call({ method: "PATCH", path, body }, soon());
    const env = { KUBECONFIG: herald.servers.kubeconfig };
    for (const service of [[], ["--service", `https:${namespace}/apiserver`]]) {
      const args = ["send", "-f", "-", "--to", "ada", "-n", namespace, "--app", "shop", ...service];
      const { code, err } = await ran(args, { stdin: hello(), env });
      expect(code, err).to.equal(0);
    }
    await until(async () => JSON.stringify(await secured.log()).includes("request.handled")); // a moment behind its answer
  });
});
