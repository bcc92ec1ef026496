import { freePorts } from "../../../dev/processes/free-ports.ts";
import { inspectorAt } from "../../../dev/processes/inspector.ts";
import { bundleVariable } from "../../../dev/processes/programs.ts";
import { treeCpuUs } from "../../../dev/processes/usage.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { atLeast } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";
import type { Installation } from "../servers.ts";
import { send } from "./blast.ts";
import { toSegment } from "./million.ts";

const whole = { recipients: 100_000, warmUp: 2_000 };
const short: typeof whole = { recipients: 500, warmUp: 50 };
const withinMs = 900_000;

/** Where the dispatcher's CPU of such a message goes, by a profile: how much of it is told apart, and what each stage takes. */
export const measureStages: Measurement = (round, tell) =>
  round.withInstallation(async (made) => {
    const { recipients, warmUp } = round.isShort ? short : whole;
    const [apiserver, profiled] = await Promise.all([made.startOwn("apiserver"), startProfiled(made)]);
    const sent = await toSegment(made, apiserver, { recipients, warmUp });
    const { dispatcher, profile } = profiled;
    const before = treeCpuUs(dispatcher.pid());
    const found = await profile(async () => {
      const { id } = await send(sent.system, apiserver, sent.body);
      await sent.system.ended(id, withinMs);
    });
    const eachUs = (treeCpuUs(dispatcher.pid()) - before) / recipients;
    const shares = sharesOf(found);
    const told = [...shares]
      .sort(([, a], [, b]) => b - a)
      .map(([stage, part]) => `${stage} ${(part * eachUs).toFixed(1)}`);
    const value = 100 * (1 - (shares.get(rest) ?? 0));
    const how = `µs of each of ${recipients} recipients, of ${eachUs.toFixed(0)} with the profiler: ${told.join(", ")}`;
    tell({
      name: "the million by stage, told apart of the dispatcher's CPU",
      reach: atLeast(90),
      value,
      unit: "%",
      how,
    });
  });

/** A dispatcher from its sources, so that a profile has their names. */
const startProfiled = async (made: Installation) => {
  const [port = 0] = await freePorts(1);
  const env = { [bundleVariable]: "", NODE_OPTIONS: `--inspect=127.0.0.1:${port}` };
  const dispatcher: SystemProgram = await made.startOwn("dispatcher", env);
  const profile = async (work: () => Promise<void>): Promise<Profile> => {
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as Target[];
    const { call, close } = await inspectorAt(target?.webSocketDebuggerUrl ?? "");
    await call("Profiler.enable");
    await call("Profiler.start");
    await work();
    const { profile: found } = (await call("Profiler.stop")) as { profile: Profile }; // as the DevTools protocol says
    close();
    return found;
  };
  return { dispatcher, profile };
};

type Target = { webSocketDebuggerUrl: string };
type Node = { id: number; callFrame: { functionName: string; url: string }; children?: number[] };
type Profile = { nodes: Node[]; samples: number[]; timeDeltas: number[] };

/** The stages, by the sources that do them; the innermost of ours decides, else the innermost package's. */
const ours: readonly (readonly [stage: string, paths: RegExp])[] = [
  [
    "scan",
    /dispatcher\/messages\/(aimed|audience|ranges|one-per-user)|storage\/(segments|people)\/|storage\/messages\/audience|domain\/(filters|segments|people)\//,
  ],
  [
    "cut",
    /dispatcher\/messages\/(cut|turn|plan|beginning)\.ts|storage\/messages\/(chunks|work)\.ts|storage\/work\/(leases|due)/,
  ],
  [
    "render",
    /runtime\/templates\/|core\/channels\/|dispatcher\/templates\/|delivery\/(prepare|by-variant)|domain\/(content|messages\/languages)/,
  ],
  [
    "gates",
    /dispatcher\/(messages\/(gates|timing)|suppressions)\/|storage\/(suppressions|redis)\/|domain\/(suppressions|experiments|zone-spans|time-zone|messages\/(caps|quiet|local|best))/,
  ],
  ["send", /dispatcher\/(net|channels)\//],
  [
    "store",
    /dispatcher\/messages\/delivery\/|storage\/(messages\/deliveries|mongo\/)|domain\/(ids|messages\/(progress|outcome))/,
  ],
  [
    "count",
    /dispatcher\/messages\/(counts|recount|send-chunks|finish|observed)|storage\/(usage|analytics)\/|domain\/(usage|analytics)\//,
  ],
  ["events", /core\/queue\/|dispatcher\/messages\/follow-up|schema\/events\/|domain\/.*events/],
];
const packages: readonly (readonly [stage: string, paths: RegExp])[] = [
  ["render", /node_modules\/liquidjs/],
  ["MongoDB's driver", /node_modules\/(mongodb|bson)\//],
  ["events", /node_modules\/@nats-io\//],
  ["gates", /node_modules\/(ioredis|redis|@redis)/],
  ["send", /node:internal\/http2/],
  ["sockets and timers of Node.js", /node:/],
];
const rest = "other";

/** The part of each stage of all time that was work. */
const sharesOf = ({ nodes, samples, timeDeltas }: Profile): Map<string, number> => {
  const stages = stagesOf(nodes);
  const times = new Map<string, number>();
  for (const [n, id] of samples.entries()) {
    const stage = stages.get(id) ?? rest;
    if (stage !== "idle") times.set(stage, (times.get(stage) ?? 0) + (timeDeltas[n] ?? 0));
  }
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  return new Map([...times].map(([stage, time]) => [stage, time / all]));
};

type Placed = { ours: string | undefined; packaged: string | undefined };

/** The stage of each node of the tree of calls. */
const stagesOf = (nodes: readonly Node[]): Map<number, string> => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stages = new Map<number, string>();
  const visit = (id: number, above: Placed): void => {
    const node = byId.get(id);
    if (node === undefined) return;
    const { functionName, url } = node.callFrame;
    const at: Placed = { ours: stageIn(ours, url) ?? above.ours, packaged: stageIn(packages, url) ?? above.packaged };
    stages.set(id, ofEngine.get(functionName) ?? at.ours ?? at.packaged ?? rest);
    for (const child of node.children ?? []) visit(child, at);
  };
  const [root] = nodes;
  if (root !== undefined) visit(root.id, { ours: undefined, packaged: undefined });
  return stages;
};

/** What V8 names itself; a program without a frame waits for the system, or works for it. */
const ofEngine: ReadonlyMap<string, string> = new Map([
  ["(idle)", "idle"],
  ["(garbage collector)", "garbage collection"],
  ["(program)", "Node.js outside of JavaScript"],
]);

const stageIn = (of: typeof ours, url: string): string | undefined => of.find(([, paths]) => paths.test(url))?.[0];
