import { expect } from "chai";
import { allResources } from "#core/channels/all-resources.ts";
import { KubeError } from "#core/runtime/kube/errors.ts";
import { type ResourceDefinition, resourceApiVersion } from "#core/schema/kubernetes/definition.ts";
import { idPrefixes } from "#core/schema/vocabulary/id-prefixes.ts";
import { kubectlFor } from "../../../../dev/demo/kubectl.ts";
import { type Installation, installation, label, type Manifest } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";
import { crdCases, rulesOf } from "./crd-cases.ts";

/** Two that the schema admits. */
const externalNames = ({ idKind }: ResourceDefinition): string[] =>
  ["0", "1"].map((digit) => (idKind === null ? `plan-${digit}` : `${idPrefixes[idKind]}_${digit.repeat(26)}`));

describe("custom resource definitions", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald, "default");
  });
  after(() => herald.close());

  const answer = (object: Manifest): Promise<string> =>
    herald.apply(object).then(
      () => "accepted",
      (error: unknown) => (error instanceof KubeError ? error.reason : String(error)),
    );
  const changed = (object: Manifest, spec: object): Promise<string> =>
    herald.patch(object, { spec }).then(
      () => "accepted",
      (error: unknown) => (error instanceof KubeError ? error.reason : String(error)),
    );
  const every = (): Manifest[] => [
    make.plan(),
    make.tenant(),
    make.app(),
    make.apiKey(),
    make.webhook(),
    make.activityType(),
    make.segment(),
    make.template(),
    make.inAppMessage(),
    make.lake(),
    make.incident(),
  ];
  const cases = crdCases(() => make);
  for (const { it: name, object, says } of cases) {
    it(`refuse ${name}`, async () => {
      expect(await answer(object())).to.contain(says);
    });
  }

  it("admit what is right, and fill in the defaults", async () => {
    expect(await answer(make.plan())).to.equal("accepted");
    expect(await answer(make.apiKey({ expiresAt: "2030-01-01T00:00:00Z" }))).to.equal("accepted");
    expect(await answer(make.webhook({ url: "http://127.0.0.1:8080/hook?a=b@c" }))).to.equal("accepted");
    expect((await herald.get(make.webhook()))?.spec).to.include({
      batch: false,
      bodyContentType: "application/json",
      paused: false,
      maxInFlight: 10,
      timeoutMilliseconds: 10_000,
    });
    expect((await herald.get(make.plan()))?.spec).to.include({ backlogPerTenant: 1000, deletionPolicy: "Delete" });
  });

  const fixed = [
    { of: "a key", object: () => make.apiKey(), spec: { connectionSecretName: "other" } },
    { of: "a webhook", object: () => make.webhook(), spec: { appRef: "other" } },
    { of: "a webhook", object: () => make.webhook(), spec: { secretName: "other" } },
    { of: "a type", object: () => make.activityType(), spec: { name: "Other" } },
    { of: "a type", object: () => make.activityType(), spec: { appRef: "other" } },
    { of: "a segment", object: () => make.segment(), spec: { kind: "list", filter: null } },
    { of: "a template", object: () => make.template(), spec: { kind: "partial" } },
    { of: "a template", object: () => make.template(), spec: { appRef: "other" } },
    { of: "an in-app message", object: () => make.inAppMessage(), spec: { appRef: "other" } },
    { of: "a segment", object: () => make.segment(), spec: { appRef: "other" } },
    { of: "a warehouse export", object: () => make.lake(), spec: { appRef: "other" } },
  ];
  for (const { of, object, spec } of fixed) {
    const [member = ""] = Object.keys(spec);
    it(`keep ${member} of ${of} as it was made`, async () => {
      await herald.apply(object());
      expect(await changed(object(), spec)).to.contain(`${member} cannot be changed`);
    });
  }

  for (const kind of allResources) {
    const object = (): Manifest => every().find((one) => one.kind === kind.kind)!;
    const [one = "", other = ""] = externalNames(kind);

    it(`of ${kind.kind} want a name of what is only looked at`, async () => {
      const observed = { ...object(), spec: { ...object().spec, managementPolicy: "Observe" } };
      expect(await answer(observed)).to.contain("Observe needs externalName");
      expect(await answer({ ...observed, spec: { ...observed.spec, externalName: "?" } })).to.contain("externalName");
      expect(await answer({ ...observed, spec: { ...object().spec, managementPolicy: "Ignore" } })).to.contain(
        "Unsupported",
      );
    });

    it(`of ${kind.kind} keep externalName as it was set`, async () => {
      await herald.apply(object());
      expect(await changed(object(), { externalName: one })).to.equal("accepted");
      expect(await changed(object(), { externalName: other })).to.contain("externalName cannot be changed");
      expect(await changed(object(), { externalName: null })).to.contain("externalName cannot be changed");
    });

    it(`of ${kind.kind} leave a resource the record that it has made`, async () => {
      const made = { ...object(), metadata: { ...object().metadata, name: `${object().metadata.name}-made` } };
      await herald.apply(made);
      const { namespace } = made.metadata;
      const place = namespace === undefined ? "" : `namespaces/${namespace}/`;
      const path = `/apis/${resourceApiVersion}/${place}${kind.plural}/${made.metadata.name}/status`;
      await herald.client.call({ method: "PATCH", path, body: { status: { id: one } } }, AbortSignal.timeout(60_000));
      expect(await changed(made, { externalName: other })).to.contain("externalName can only become status.id");
      expect(await changed(made, { externalName: one })).to.equal("accepted");
    });

    it(`of ${kind.kind} have a test for every rule`, () => {
      const said = cases.filter((one) => one.object().kind === kind.kind).map(({ says }) => says);
      const tested = [...said, "externalName", ...fixed.map(({ spec }) => `${Object.keys(spec)[0]} cannot be changed`)];
      const untested = rulesOf(kind).filter((message) => !tested.some((text) => message.includes(text)));
      expect(untested).to.deep.equal([]);
    });
  }

  it("show all kinds under one category, by their short names and columns", async () => {
    const get = <T>(path: string, accept = "application/json"): Promise<T> =>
      herald.client.call<T>({ method: "GET", path, accept }, AbortSignal.timeout(60_000));
    type Served = { name: string; kind: string; shortNames?: string[]; categories?: string[] };
    const { resources } = await get<{ resources: Served[] }>(`/apis/${resourceApiVersion}`);
    for (const kind of allResources) {
      const served = resources.find(({ name }) => name === kind.plural);
      expect(served).to.deep.include({ kind: kind.kind, shortNames: kind.shortNames, categories: ["herald"] });
      const table = await get<{ columnDefinitions: { name: string; priority: number }[] }>(
        `/apis/${resourceApiVersion}/${kind.plural}?limit=1`,
        "application/json;as=Table;g=meta.k8s.io;v=v1",
      );
      const shown = table.columnDefinitions.filter(({ priority }) => priority === 0).map(({ name }) => name);
      expect(shown.slice(0, 3)).to.deep.equal(["Name", "Ready", "Reason"]);
      expect(shown.slice(-2)).to.deep.equal(["ID", "Age"]);
    }
  });

  it("are what kubectl gets by one word, and explains", async () => {
    for (const object of every())
      await herald.apply({ ...object, metadata: { ...object.metadata, name: `${herald.id}-got` } });
    const kubectl = kubectlFor(herald.servers.kubeconfig);
    const names = await kubectl(["get", "herald", "-A", "-l", `${label}=${herald.id}`, "-o", "name"]);
    for (const { plural, kind, shortNames } of allResources) {
      expect(names).to.contain(`${kind.toLowerCase()}.herald.dev/${herald.id}-got`);
      expect(await kubectl(["get", ...shortNames, "-A", "-l", `${label}=${herald.id}`])).to.contain(`${herald.id}-got`);
      expect(await kubectl(["explain", `${plural}.spec.externalName`])).to.contain("herald.dev/adopt");
    }
  });

  const unheardOf = [{ quietHours: { from: "22:00", to: "08:00" } }, { frequencyCap: { perDay: 3 } }];
  for (const spec of unheardOf) {
    it(`refuse an app with ${JSON.stringify(spec)}, which has no effect, to whoever asks for strict validation`, async () => {
      const path = `/apis/${resourceApiVersion}/namespaces/default/apps?fieldValidation=Strict`;
      const posted = herald.client.call(
        { method: "POST", path, body: make.app(spec, "strict") },
        AbortSignal.timeout(60_000),
      );
      const said = await posted.then(
        () => "accepted",
        (error: unknown) => (error instanceof KubeError ? error.reason : ""),
      );
      expect(said).to.contain("unknown field");
    });
  }

  it("drop a member that they do not know", async () => {
    const seen = await herald.apply(make.plan({ apiRbs: 3 }));
    expect(seen.spec).not.to.have.property("apiRbs");
  });
});
