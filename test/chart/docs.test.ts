import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Db } from "mongodb";
import { allResources } from "#core/channels/all-resources.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import { rootDir } from "../../dev/files/paths.ts";
import { freePorts } from "../../dev/processes/free-ports.ts";
import { startProgram } from "../../dev/processes/programs.ts";
import { makeCredentials } from "../../dev/simulators/kit/credentials.ts";
import { startSmtp } from "../../dev/simulators/smtp.ts";
import { blocksOf } from "../support/pages/blocks.ts";
import { until } from "../support/until.ts";
import { onNodes } from "./support/on-nodes.ts";
import { useWalk } from "./support/walk.ts";

/** The page and the section whose commands of nodes are run here all the same, on programs that a test starts. */
const start = "start-platform.md";
const onPrograms = "4. A first message";
const pages = [
  start,
  "install.md",
  "gitops.md",
  "upgrade.md",
  "backup.md",
  "uninstall.md",
  "keys.md",
  "moving.md",
  "node-loss.md",
  "full-disk.md",
];

describe("the pages on running Herald in a cluster", function () {
  this.timeout(400_000); // every wait inside has a bound of its own
  const walk = useWalk();
  const { run, follow, commandsOf, startCluster, startOperator, useKeyRing, environment, inDatabase, idsAndKeys } =
    walk;

  it("show only commands that are run, here or on nodes", () => {
    const blocks = pages.flatMap(blocksOf);
    expect(new Set(blocks.map(({ info }) => info))).to.have.keys("sh", "sh nodes");
    const lines = blocks
      .filter(({ info, section }) => info === "sh nodes" && section !== onPrograms)
      .flatMap(({ text }) => text.trimEnd().split("\n"));
    expect(lines.filter((line) => onNodes[line] === undefined)).to.deep.equal([]);
    for (const file of Object.values(onNodes)) expect(existsSync(join(rootDir, file)), file).to.equal(true);
  });

  it("install the chart, and make a tenant with an app and a key", async () => {
    const [install = ""] = commandsOf(start, "2. Herald");
    await run(install);
    await useKeyRing();
    await startOperator(); // it is ready when the kinds are served
    await run("kubectl apply -f config/samples/00-plans.yaml"); // a Job of the chart does it, on a node
    const printed = await follow(start, tenant);
    expect(printed)
      .to.match(/tenant.herald.dev\/demo +True +Reconciled/)
      .and.to.match(/app.herald.dev\/shop +True/);
    const notes = await run("helm get notes herald --namespace herald");
    const [look = ""] = commandsOf("upgrade.md", "Plans that were left alone");
    const resources = await readFile(join(rootDir, "config/start.yaml"), "utf8");
    for (const text of [resources, look]) expect(notes, "Helm says the same").to.include(text);
  });

  it("send a message", async () => {
    const credentials = makeCredentials();
    const { username, password } = credentials.smtp;
    const mail = await startSmtp({ port: 0, tls: credentials.tls, login: credentials.smtp });
    const [apiserverHealth = 0, dispatcherHealth = 0, port = 0] = await freePorts(3);
    await writeFile(join(walk.dir(), "ca.pem"), credentials.tls.cert);
    const own = { HERALD_HTTP_PORT: String(port), HERALD_ALLOWED_RANGES: "127.0.0.0/8" }; // where the mail server is
    const env = { ...environment(), NODE_EXTRA_CA_CERTS: join(walk.dir(), "ca.pem"), ...own };
    const programs = await Promise.all([
      startProgram({ program: "apiserver", dir: walk.dir(), healthPort: apiserverHealth, env }),
      startProgram({ program: "dispatcher", dir: walk.dir(), healthPort: dispatcherHealth, env }),
    ]);
    const [, ...blocks] = blocksOf(start).filter(({ section }) => section === onPrograms); // the first makes a tunnel
    const [begin = "", post = "", look = ""] = blocks.map(({ text }) =>
      text
        .replace("MAIL_HOST=mail.example.com MAIL_PORT=587", `MAIL_HOST=127.0.0.1 MAIL_PORT=${new URL(mail.url).port}`)
        .replace("MAIL_USER=you MAIL_PASSWORD=secret", `MAIL_USER=${username} MAIL_PASSWORD=${password}`)
        .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`),
    );
    const key = commandsOf(start, tenant).find((text) => text.startsWith("TOKEN=")) ?? "";
    const ready = "kubectl --namespace demo wait apps.herald.dev/shop --for=jsonpath='{.status.observedGeneration}'=2";
    await run([key, begin, ready, post].join("\n"));
    await until(async () => {
      const { data } = JSON.parse(await run([key, look].join("\n"))) as { data: { status: string; counts: object }[] };
      return data[0]?.status === "completed";
    }, 90_000);
    expect(mail.log.page().map(({ address, accepted }) => ({ address, accepted }))).to.deep.equal([
      { address: "you@example.com", accepted: true },
    ]);
    await Promise.all([...programs.map((program) => program.stop()), mail.stop()]);
    const patch = '[{"op": "remove", "path": "/spec/channels/email"}]';
    await run(`kubectl --namespace demo patch apps.herald.dev/shop --type=json --patch '${patch}'
               kubectl --namespace demo delete secret shop-mail`);
  });

  it("give values for real installations, on OpenShift, and beside others, that the chart takes", async () => {
    await follow("install.md", ...values);
    for (const file of ["rendered", "openshift-rendered", "eu-rendered"])
      expect(await run(`grep -c 'kind: ' ${file}.yaml`), file).to.match(/^[3-9]\d/);
    expect(await run("grep -c 'runAsUser: ' openshift-rendered.yaml || true")).to.equal("0\n");
    expect(await run(`grep --count '"kind":"Plan"' eu-rendered.yaml`)).to.equal("1\n");
    expect(await run(`grep --count '"name":"eu-free"' eu-rendered.yaml`)).to.equal("1\n");
  });

  it("show the dashboards that the trial brings", async () => {
    expect((await follow(start, "5. Dashboards")).match(/^herald-dashboard/gm)).to.have.length(6);
  });

  it("keep resources in git", async () => {
    await follow(start, "6. Everything in git");
    await run("kubectl create namespace argocd && kubectl --namespace argocd create configmap argocd-cm");
    await follow("gitops.md");
    await run(`kubectl --namespace plain delete ${owned} --all && kubectl delete tenants.herald.dev plain`);
    await run("kubectl wait plan/partner --for=condition=Ready --timeout=120s");
    const kinds = await run("kubectl --namespace argocd get configmap argocd-cm --output json | jq '.data | length'");
    expect(Number(kinds)).to.equal(allResources.length);
  });

  it("leave a second sync of the whole chart nothing to change", async () => {
    const options = "--server-side --force-conflicts --field-manager=argocd-controller -f chart.yaml";
    const diff = await run(`
      helm template herald charts/herald --namespace herald-production --values production.yaml --no-hooks \\
        --set monitoring.serviceMonitor.enabled=false,monitoring.prometheusRule.enabled=false > chart.yaml
      kubectl apply ${options} >applied.txt
      kubectl diff ${options}`);
    expect(diff).to.equal("");
    expect(await run("wc --lines < applied.txt")).to.match(/^[3-9]\d/);
  });

  it("upgrade, and roll back", async () => {
    await follow("upgrade.md");
    const history = await run("helm history herald --namespace herald --output json");
    expect((JSON.parse(history) as object[]).length).to.equal(3);
  });

  it("say who changed a plan that the chart leaves alone", async () => {
    const [look = ""] = commandsOf("upgrade.md", "Plans that were left alone");
    await run(`kubectl patch plans.herald.dev/free --type=merge --patch '{"spec":{"apiRps":21}}'`);
    const said = await run(`(${look}) 2>&1 || true`);
    expect(said).to.include('conflict with "kubectl-patch"').and.to.include(".spec.apiRps");
    expect(said).to.include("plan.herald.dev/growth serverside-applied");
  });

  it("rotate the key ring of an operator that runs", async () => {
    const [old = ""] = walk.keyRing().split(":");
    const step = async (section: string): Promise<string[]> => {
      await follow("keys.md", section);
      await useKeyRing();
      await walk.stopOperator(); // what a restart of the deployments does
      await startOperator();
      return walk
        .keyRing()
        .trim()
        .split("\n")
        .map((line) => line.split(":")[0] ?? "");
    };
    await run("kubectl apply -f -", JSON.stringify(aWebhook));
    await run("kubectl --namespace demo wait webhooks.herald.dev/rotated --for=condition=Ready --timeout=60s");
    const [, added = ""] = await step("1. Add a key");
    expect(await inDatabase((db) => sealedWith(db, old))).to.be.above(0);
    expect(await step("2. Seal with it")).to.deep.equal([added, old]);
    await until(async () => (await inDatabase((db) => sealedWith(db, old))) === 0, 90_000);
    expect(await step("4. Take the old key out")).to.deep.equal([added]);
    await run("kubectl --namespace demo delete webhooks.herald.dev/rotated --timeout=60s");
  });

  it("restore everything into an empty cluster: the ids, the records and the key that apps have", async () => {
    const before = await idsAndKeys();
    const hashes = await inDatabase(hashesIn);
    const [keepPassword = "", withoutPrograms = "", programs = ""] = commandsOf(
      "backup.md",
      "With the chart's own stores",
    );
    await follow("backup.md", "Back up");
    await run(keepPassword);
    expect(await run("jq --raw-output '[.items[].apiVersion] | unique | join(\" \")' resources.json")).to.equal(
      "herald.dev/v1alpha1 herald.dev/v1beta1\n", // kubectl asks for plans by the newer one
    );
    await walk.stopOperator();
    await walk.stopCluster();
    await startCluster("second");
    const [prepare = "", install = "", ...rest] = commandsOf("backup.md", "Restore");
    await run(`${prepare}\n${withoutPrograms}`);
    const replicas = "kubectl --namespace herald get deployments --output jsonpath='{.items[*].spec.replicas}'";
    expect(await run(replicas)).to.equal("0 0 0");
    await run(programs);
    expect(await run(replicas)).to.not.include("0");
    const password = "--namespace herald --output jsonpath='{.data.password}'";
    expect(await run(`kubectl get secret herald-bundled-stores ${password}`)).to.equal(
      (await run("jq --raw-output .data.password bundled-stores.json")).trim(),
    );
    await run(`helm uninstall herald --namespace herald\n${install}`);
    await useKeyRing();
    await startOperator();
    await run(rest.join("\n"));
    await run("kubectl --namespace demo wait apps.herald.dev/shop apikeys.herald.dev/backend --for=condition=Ready");
    expect(await idsAndKeys()).to.equal(before);
    expect(await inDatabase(hashesIn)).to.deep.equal(hashes);
    const keyRing = "get secret herald-key-ring --namespace herald --output jsonpath='{.data}'";
    expect(await run(`kubectl ${keyRing}`)).to.equal(
      await run("jq --compact-output .data key-ring.json | tr -d '\\n'"),
    );
  });

  it("move everything to another cluster, where the old one's programs have ended before", async () => {
    const before = await idsAndKeys();
    const replicas = "kubectl --namespace herald get deployments --output jsonpath='{.items[*].spec.replicas}'";
    await follow("backup.md", "Back up");
    await follow("moving.md", "2. Stop the old ones");
    expect(await run(replicas)).to.equal("0 0 0");
    await walk.stopOperator();
    await walk.stopCluster();
    await startCluster("third");
    await follow("moving.md", "1. Prepare");
    expect(await run(replicas)).to.equal("0 0 0");
    const [start = "", resources = ""] = commandsOf("moving.md", "4. Start the new ones");
    await run(start);
    expect(await run(replicas)).to.not.include("0");
    await startOperator();
    await run(resources);
    await run("kubectl --namespace demo wait apps.herald.dev/shop apikeys.herald.dev/backend --for=condition=Ready");
    expect(await idsAndKeys()).to.equal(before);
  });

  it("end every deletion: in a namespace that is no longer watched, of what is in use, without an operator", async () => {
    await walk.stopOperator();
    await startOperator({ HERALD_OPERATOR_WATCH_NAMESPACES: "default" });
    await run(
      "kubectl wait tenants.herald.dev/demo --for=jsonpath='{.status.conditions[0].reason}'=NamespaceNotWatched",
    );
    await follow("uninstall.md", "When a namespace is no longer watched");
    const [retain = "", unfinalize = ""] = commandsOf("uninstall.md", "When a deletion does not end");
    await run(`kubectl delete tenants.herald.dev demo --wait=false\n${retain}
               kubectl wait tenants.herald.dev/demo --for=delete --timeout=120s`);
    await walk.stopOperator();
    await run(unfinalize);
    const left = "kubectl get plans.herald.dev --output jsonpath='{.items[*].metadata.finalizers}'";
    expect(await run(left)).to.equal("");
    await inDatabase((db) => Promise.all(records.slice(1).map((name) => db.collection(name).deleteMany({}))));
    await startOperator();
  });

  it("uninstall, and leave nothing of ours and all that is others'", async () => {
    await follow("uninstall.md", "# Uninstall");
    expect(await run("kubectl get crd --output name")).to.equal(
      "customresourcedefinition.apiextensions.k8s.io/tenants.a.example\n",
    );
    expect(await run("kubectl get tenants.a.example --output name")).to.equal("tenant.a.example/others\n");
    expect(
      await run("kubectl get clusterroles,deployments,secrets --all-namespaces --output name | grep herald || true"),
    ).to.equal("");
    const counts = await inDatabase((db) => Promise.all(records.map((name) => db.collection(name).countDocuments())));
    expect(counts).to.deep.equal(records.map(() => 0));
  });

  it("install for real after a trial, to which the kinds belonged, and restart for a new password", async () => {
    const [tryIt = ""] = commandsOf(start, "2. Herald");
    const [real = ""] = commandsOf("install.md", "For real: install");
    await run(`${tryIt}\nkubectl apply --server-side -f ${rootDir}/test/chart/crds/monitoring.yaml`);
    await run(commandsOf("install.md", "For real: prepare").join("\n"));
    expect(await run(`${real.trimEnd()} 2>&1 || true`)).to.include("invalid ownership metadata");
    await follow("install.md", "After a trial");
    const restarted = await follow("install.md", "When a password or a certificate changes");
    expect(restarted.trim().split("\n")).to.have.length(3);
  });
});

const owned =
  "apps.herald.dev,apikeys.herald.dev,webhooks.herald.dev,liveactivitytypes.herald.dev,segments.herald.dev,templates.herald.dev,inappmessages.herald.dev";
const records = ["plans", "tenants", "apps", "api_keys"];

/** It has a secret that the key ring seals. */
const aWebhook = {
  apiVersion: "herald.dev/v1alpha1",
  kind: "Webhook",
  metadata: { name: "rotated", namespace: "demo" },
  spec: { appRef: "shop", url: "https://hooks.example.com/a", events: ["delivery.sent"], secretName: "rotated" },
};

/** How many webhooks have something that a key seals. */
const sealedWith = async (db: Db, kid: string): Promise<number> => {
  const webhooks = await db.collection("webhooks").find().toArray();
  return webhooks.filter((webhook) => JSON.stringify(webhook).includes(`"kid":"${kid}"`)).length;
};

const hashesIn = async (db: Db): Promise<unknown> => {
  const rows = await db.collection<ApiKeyRow>("api_keys").find().toArray();
  return rows.map(({ _id, hashes }) => ({ _id, hashes }));
};

/** A section of the start page. */
const tenant = "3. A tenant with an app and a key";
/** Sections of install.md. */
const values = ["For real: prepare", "When pods do not become ready", "Several installations on one cluster"];
