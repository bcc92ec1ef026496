import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rootDir } from "../files/paths.ts";
import { documentdbVersion } from "./postgres.ts";
import type { ServerKind } from "./stack.ts";

/** One line on what each server is, for people: the extension moves with Debian, the rest is pinned by dev/tools. */
export const describe = (kind: ServerKind): string => descriptions[kind]();

/** The version that a module under dev/tools pins, without the `v`. */
export const pinned = (tools: string, module: string): string => {
  const pins = readFileSync(join(rootDir, "dev/tools", tools, "go.mod"), "utf8");
  const [, version] = pins.split(`${module} v`);
  if (!version) throw new Error(`dev/tools/${tools}/go.mod does not pin ${module}`);
  return version.split(/\s/)[0] ?? "";
};

const descriptions: Record<ServerKind, () => string> = {
  mongodb: () =>
    `FerretDB ${pinned("ferretdb", "github.com/FerretDB/FerretDB/v2")}, PostgreSQL 18, DocumentDB ${documentdbVersion()}`,
  nats: () => `nats-server ${pinned("nats", "github.com/nats-io/nats-server/v2")} with JetStream`,
  redis: () => "Redis",
  s3: () => `versitygw ${pinned("versitygw", "github.com/versity/versitygw")} over a folder`,
  kubernetes: () => {
    const etcd = pinned("kubernetes", "go.etcd.io/etcd/server/v3");
    return `kube-apiserver ${pinned("kubernetes", "k8s.io/kubernetes")}, etcd ${etcd}, no nodes`;
  },
};
