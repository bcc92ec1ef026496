import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, symlink } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { bin, binDir, devDir, rootDir } from "./files/paths.ts";
import { aptInstall, installPostgres, isPostgresInstalled } from "./install/debian.ts";
import { areBuilt, build, ferretdb, type GoTools, kubernetes, nats, oasdiff, versitygw } from "./install/go-tools.ts";
import { apns2Go, http2Go, installHttp2Peer, missingHttp2Peers, sayWhatIsLeftOut } from "./install/http2-peers.ts";
import { reportProgress, say, step } from "./install/progress.ts";
import { withLock } from "./processes/lock.ts";
import { addressVariables, type ServerKind } from "./servers/stack.ts";

// `make install`: gets the servers that no address is given for; with --tests, which the targets of tests give, also what is
// only tested against. At once when all is there; safe to kill and run again.
const { values } = parseArgs({ options: { tests: { type: "boolean", default: false } } });

const isGiven = (kind: ServerKind): boolean => Boolean(process.env[addressVariables[kind]]);

const install = async (): Promise<void> => {
  await rm(join(devDir, "tmp"), { recursive: true, force: true }); // left by a run that was cut short
  const missing = findMissing();
  const lack = whatIsLacking(missing);
  if (lack) {
    say(lack);
    process.exit(2);
  }
  const { tools, postgres, redis, http2Peers } = missing;
  if (tools.length === 0 && http2Peers.length === 0 && !postgres && !redis) return linkKubectl();
  sayWhatComes(missing);
  const stop = reportProgress();
  await Promise.all([buildAll(tools), installPackages(missing)]);
  stop();
  if (values.tests) sayWhatIsLeftOut();
  await linkKubectl();
};

const sayWhatComes = ({ tools, postgres, redis, http2Peers }: Missing): void => {
  const names = [
    ...tools.map(({ module }) => module),
    ...(postgres ? ["PostgreSQL"] : []),
    ...(redis ? ["Redis"] : []),
    ...http2Peers.map(({ name }) => name),
  ];
  const minutes = tools.includes(kubernetes) ? "5 to 7 minutes" : "a minute or two";
  say(
    `getting ${names.join(", ")}, once, into ${relative(rootDir, binDir)}: ${minutes} on two cores, nearly all of it Go builds`,
  );
};

type Missing = {
  tools: GoTools[];
  postgres: boolean;
  redis: boolean;
  http2Peers: ReturnType<typeof missingHttp2Peers>;
};

const findMissing = (): Missing => ({
  tools: [
    ...(isGiven("kubernetes") && onPath("kubectl") ? [] : [kubernetes]), // the longest first
    ...(isGiven("mongodb") ? [] : [ferretdb]),
    ...(isGiven("nats") ? [] : [nats]),
    ...(isGiven("s3") ? [] : [versitygw]),
    ...(values.tests && onPath("go") ? [http2Go, apns2Go, oasdiff] : []), // not worth a hint where Go is missing
  ].filter((tools) => !areBuilt(tools)),
  postgres: !isGiven("mongodb") && !isPostgresInstalled(),
  redis: !isGiven("redis") && !existsSync(bin("redis-server")),
  http2Peers: values.tests ? missingHttp2Peers() : [],
});

/** One line on what stands in the way, with the way round it; null when nothing does. */
const whatIsLacking = ({ tools, postgres, redis }: Missing): string | null => {
  const isRoot = process.getuid?.() === 0;
  if (tools.length > 0 && !onPath("go")) {
    return "Go 1.26 or newer is missing: see https://go.dev/dl, or set MONGODB_URL, NATS_URL, S3_URL and KUBECONFIG to your own servers";
  }
  if (!isGiven("mongodb") && !isRoot) {
    return "PostgreSQL in a folder of its own needs root: run as root, or set MONGODB_URL to your own MongoDB";
  }
  if (postgres && !canMount()) {
    return "PostgreSQL needs mount namespaces (CAP_SYS_ADMIN): allow them, or set MONGODB_URL to your own MongoDB";
  }
  if ((postgres || (redis && !redisOnPath())) && !(isRoot && onPath("apt-get"))) {
    return "installing Redis needs root on Debian: install redis-server yourself, or set REDIS_URL to your own Redis";
  }
  return null;
};

/** Two at a time: each is bound by processor time. */
const buildAll = async (tools: readonly GoTools[]): Promise<void> => {
  const waiting = [...tools];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const tool = next;
      await step(`building ${Object.keys(tool.packages).join(", ")}`, () => build(tool));
    }
  };
  await Promise.all([worker(), worker()]);
};

const installPackages = async ({ postgres, redis, http2Peers }: Missing): Promise<void> => {
  const packages = [
    ...(postgres && !onPath("debootstrap") ? ["debootstrap"] : []),
    ...(redis && !redisOnPath() ? ["redis-tools"] : []), // holds the server's program, starts no service
  ];
  if (packages.length > 0) await step(`installing ${packages.join(", ")}`, () => aptInstall(packages));
  if (redis) await link("redis-server", redisOnPath());
  if (postgres) await step("installing PostgreSQL 18 with DocumentDB", installPostgres);
  for (const peer of http2Peers) await step(`installing ${peer.name}`, () => installHttp2Peer(peer));
};

/** Redis is one program that acts by the name it is called with. */
const redisOnPath = (): string | null => onPath("redis-server") ?? onPath("valkey-server") ?? onPath("redis-check-rdb");

/** With a cluster of the user's own, kubectl is theirs too. */
const linkKubectl = async (): Promise<void> => {
  if (!existsSync(bin("kubectl"))) await link("kubectl", onPath("kubectl"));
};

const link = async (name: string, target: string | null): Promise<void> => {
  if (!target) throw new Error(`${name} is still not there after its installation`);
  await mkdir(binDir, { recursive: true });
  await rm(bin(name), { force: true });
  await symlink(target, bin(name));
};

const onPath = (program: string): string | null => {
  const places = `${process.env.PATH}:/usr/sbin:/sbin`.split(":").map((dir) => join(dir, program));
  return places.find((path) => existsSync(path)) ?? null;
};

const canMount = (): boolean => {
  try {
    execFileSync("unshare", ["--mount", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

try {
  await withLock(join(binDir, "install.lock"), install);
} catch (error) {
  say((error as Error).message);
  process.exit(1); // what still runs is tied to this process and ends with it
}
