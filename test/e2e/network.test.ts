import { portOffsets } from "../../dev/paths.ts";
import { simulatorOffsets } from "../../dev/simulators/start.ts";
import { becomes, endProbe, type Place, startProbe } from "./support/probe.ts";
import { type ProgramName, programs, releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

type Target = { host: string; port: number; what: string };

describe("the NetworkPolicies", function () {
  this.timeout(180_000);
  let at: System;
  let probes: Record<"monitoring" | "elsewhere", Place>;
  let pods: Record<ProgramName, Place & { ip: string }>;

  before(async () => {
    at = await system();
    const [monitoring, elsewhere] = await Promise.all(
      ["monitoring", "elsewhere"].map((namespace) => startProbe(at.cluster, at.env, namespace)),
    );
    probes = { monitoring, elsewhere } as typeof probes; // one for each name
    const found = await Promise.all(
      programs.map(async (program) => {
        const [pod] = await at.release.pods(program);
        const ip = pod?.status.podIP ?? "";
        return [program, { namespace: releaseName, pod: pod?.metadata.name ?? "", ip }] as const;
      }),
    );
    pods = Object.fromEntries(found) as typeof pods; // one for each program
  });
  after(async () => {
    await Promise.all(Object.values(probes).map((probe) => endProbe(at.cluster, probe)));
  });

  const health = (program: ProgramName): Target => ({
    host: pods[program].ip,
    port: 9090,
    what: `${program}'s metrics`,
  });
  const rest = (): Target => ({ host: pods.apiserver.ip, port: 8080, what: "the REST interface" });
  const outside = (name: string, offset: number): Target => ({
    host: at.env.host,
    port: at.env.portBase + offset,
    what: name,
  });
  const mongodb = () => outside("MongoDB", portOffsets.ferretdb);
  const redis = () => outside("Redis", portOffsets.redis);
  const apns = () => outside("APNs", simulatorOffsets.apns);

  const check = (from: () => Place, to: () => Target, wanted: boolean) => async () =>
    becomes(at.cluster, from(), to(), wanted);

  it(
    "let every namespace call the REST interface",
    check(() => probes.elsewhere, rest, true),
  );
  for (const program of programs) {
    it(
      `let monitoring read ${program}'s metrics`,
      check(
        () => probes.monitoring,
        () => health(program),
        true,
      ),
    );
    it(
      `let nobody else read ${program}'s metrics`,
      check(
        () => probes.elsewhere,
        () => health(program),
        false,
      ),
    );
    it(
      `let ${program} reach MongoDB`,
      check(() => pods[program], mongodb, true),
    );
  }
  it(
    "let no program call another",
    check(() => pods.dispatcher, rest, false),
  );
  it(
    "let the apiserver reach Redis",
    check(() => pods.apiserver, redis, true),
  );
  it(
    "keep the operator from Redis, which it has no use for",
    check(() => pods.operator, redis, false),
  );
  it(
    "let the dispatcher reach the network that values allow",
    check(() => pods.dispatcher, apns, true),
  );
  it(
    "keep the apiserver from there",
    check(() => pods.apiserver, apns, false),
  );

  describe("and the Kubernetes API", () => {
    const kubernetes = (): Target => ({ host: "kubernetes.default.svc", port: 443, what: "the Kubernetes API" });

    it(
      "let the operator reach it",
      check(() => pods.operator, kubernetes, true),
    );
    it(
      "keep the apiserver from it",
      check(() => pods.apiserver, kubernetes, false),
    );
    it(
      "keep the dispatcher from it",
      check(() => pods.dispatcher, kubernetes, false),
    );
  });
});
