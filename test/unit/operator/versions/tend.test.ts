import { expect } from "chai";
import type { KubeClient, KubeRequest } from "#core/runtime/kube/client.ts";
import { KubeError } from "#core/runtime/kube/errors.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { planResource } from "#core/schema/plans/resource.ts";
import { tenantResource } from "#core/schema/tenants/resource.ts";
import { tendVersions } from "../../../../operator/versions/tend.ts";

const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/plans.herald.dev";
const plans = "/apis/herald.dev/v1alpha1/plans";

/** What the API server is asked until `ends` holds of a request; `generations` of the definition, look by look. */
const asked = async ({
  generations,
  stored = ["v1alpha1", "v1beta1"],
  ends,
  fails = () => undefined,
}: {
  generations: number[];
  stored?: string[];
  ends: (request: KubeRequest, looks: number) => boolean;
  fails?: (request: KubeRequest) => KubeError | undefined;
}) => {
  const stop = new AbortController();
  const requests: KubeRequest[] = [];
  let looks = 0;
  const answer = ({ path }: KubeRequest): unknown => {
    if (path === definition) {
      const generation = generations[Math.min(looks++, generations.length - 1)];
      const versions = ["v1alpha1", "v1beta1"].map((name) => ({ name, storage: name === "v1beta1" }));
      return { metadata: { generation, resourceVersion: "9" }, spec: { versions }, status: { storedVersions: stored } };
    }
    const isFirst = path === `${plans}?limit=500`;
    const items = [{ metadata: { name: isFirst ? "free" : "pro" } }];
    return { metadata: isFirst ? { continue: "a b" } : {}, items };
  };
  const call = async (request: KubeRequest): Promise<unknown> => {
    requests.push(request);
    const error = fails(request);
    const answered = answer(request);
    if (ends(request, looks)) stop.abort();
    if (error !== undefined) throw error;
    return answered;
  };
  await tendVersions({
    client: { call } as unknown as KubeClient, // it makes calls only
    kinds: [planResource, tenantResource],
    everyMs: 0,
    log: createLog({ program: "operator", level: "fatal" }),
  })(stop.signal);
  return requests.filter(({ path }) => path !== definition).map(({ method, path, body }) => ({ method, path, body }));
};

const rewritten = [
  { method: "GET", path: `${plans}?limit=500`, body: undefined },
  { method: "PATCH", path: `${plans}/free`, body: {} },
  { method: "GET", path: `${plans}?limit=500&continue=a%20b`, body: undefined },
  { method: "PATCH", path: `${plans}/pro`, body: {} },
];
const said = {
  method: "PATCH",
  path: `${definition}/status`,
  body: { metadata: { resourceVersion: "9" }, status: { storedVersions: ["v1beta1"] } },
};
const isSaid = ({ path }: KubeRequest): boolean => path === said.path;

describe("tendVersions", () => {
  it("rewrites every object page by page, then says so, of the definition that it read", async () => {
    expect(await asked({ generations: [2], ends: isSaid })).to.deep.equal([...rewritten, said]);
  });

  it("leaves a definition alone that changed since the last look, and one whose objects are all of its version", async () => {
    const afterThree = (_: KubeRequest, looks: number): boolean => looks === 3;
    expect(await asked({ generations: [1, 2, 3], ends: afterThree })).to.deep.equal([]);
    expect(await asked({ generations: [1], stored: ["v1beta1"], ends: afterThree })).to.deep.equal([]);
  });

  it("passes over an object that is gone, and begins anew after another failure", async () => {
    const gone = new KubeError("PATCH", { status: 404, reason: "NotFound" });
    const isFree = ({ path }: KubeRequest): boolean => path === `${plans}/free`;
    const fails = (request: KubeRequest) => (isFree(request) ? gone : undefined);
    expect(await asked({ generations: [1], ends: isSaid, fails })).to.deep.equal([...rewritten, said]);
    let refusals = 0;
    const refused = new KubeError("PATCH", { status: 403, reason: "Forbidden" });
    const once = (request: KubeRequest) => (isFree(request) && refusals++ === 0 ? refused : undefined);
    const [list, free] = rewritten;
    expect(await asked({ generations: [1], ends: isSaid, fails: once })).to.deep.equal([
      list,
      free,
      ...rewritten,
      said,
    ]);
  });
});
