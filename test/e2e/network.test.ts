import { portOffsets } from "../../dev/files/paths.ts";
import { simulatorOffsets } from "../../dev/simulators/start.ts";
import { becomes, endProbe, type Place, startProbe } from "./support/cluster/probe.ts";
import { type ProgramName, programs, releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

type Target = { host: string; port: number; what: string };
type Way = { it: string; from: () => Place; to: () => Target; wanted: boolean };

describe("the NetworkPolicies", () => {
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

  const kubernetes = (): Target => ({ host: "kubernetes.default.svc", port: 443, what: "the Kubernetes API" });
  const elsewhere = () => probes.elsewhere;
  const monitoring = () => probes.monitoring;

  /** Who may reach what. All of it is tried at once: what is refused is found out by waiting. */
  const ways: readonly Way[] = [
    { it: "let every namespace call the REST interface", from: elsewhere, to: rest, wanted: true },
    ...programs.flatMap((program) => [
      { it: `let monitoring read ${program}'s metrics`, from: monitoring, to: () => health(program), wanted: true },
      { it: `let nobody else read ${program}'s metrics`, from: elsewhere, to: () => health(program), wanted: false },
      { it: `let ${program} reach MongoDB`, from: () => pods[program], to: mongodb, wanted: true },
    ]),
    { it: "let no program call another", from: () => pods.dispatcher, to: rest, wanted: false },
    { it: "let the apiserver reach Redis", from: () => pods.apiserver, to: redis, wanted: true },
    {
      it: "keep the operator from Redis, which it has no use for",
      from: () => pods.operator,
      to: redis,
      wanted: false,
    },
    {
      it: "let the dispatcher reach the network that values allow",
      from: () => pods.dispatcher,
      to: apns,
      wanted: true,
    },
    { it: "keep the apiserver from there", from: () => pods.apiserver, to: apns, wanted: false },
    { it: "let the operator reach the Kubernetes API", from: () => pods.operator, to: kubernetes, wanted: true },
    { it: "keep the apiserver from it", from: () => pods.apiserver, to: kubernetes, wanted: false },
    { it: "keep the dispatcher from it", from: () => pods.dispatcher, to: kubernetes, wanted: false },
  ];
  let outcomes: PromiseSettledResult<void>[];
  before(async () => {
    const tried = ways.map(({ from, to, wanted }) => becomes(at.cluster, from(), to(), wanted));
    outcomes = await Promise.allSettled(tried);
  });

  for (const [i, { it: name }] of ways.entries()) {
    it(name, () => {
      const outcome = outcomes[i];
      if (outcome?.status !== "fulfilled") throw outcome?.reason;
    });
  }
});
