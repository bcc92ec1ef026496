import { join } from "node:path";
import { command } from "../install/progress.ts";
import { command as output } from "../processes/run-command.ts";
import { tool } from "./tool.ts";

/** Where a release goes, such as `registry.example:5000/platform`: the host, and a path in it. */
export type Registry = { host: string; path: string };

/** What `REGISTRY` says. Throws an Error that says what is wrong. */
export const parseRegistry = (text: string): Registry => {
  const [host = "", ...rest] = text.split("/");
  const path = rest.join("/");
  if (!/^[A-Za-z0-9.-]+(:\d+)?$|^\[[0-9a-f:]+\](:\d+)?$/i.test(host))
    throw new Error(`REGISTRY is "host/path" or "host:port/path", without a scheme; "${text}" has no such host`);
  if (!/^[a-z0-9]+([._/-]+[a-z0-9]+)*$/.test(path))
    throw new Error(`REGISTRY is "host/path", such as registry.example/platform; "${path}" is no path of a registry`);
  return { host, path };
};

/** Names of what a release has in a registry, without tag and digest. */
export const namesIn = ({ host, path }: Registry) => ({
  image: `${host}/${path}/herald`,
  charts: `${host}/${path}/charts`,
  chart: `${host}/${path}/charts/herald`,
});

/** Brings the image and the chart of a release's folder to a registry; gives their addresses with digests. */
export const push = async (
  folder: string,
  { registry, version, chart }: { registry: Registry; version: string; chart: string },
): Promise<{ image: string; chart: string }> => {
  const names = namesIn(registry);
  const log = "release";
  await command([tool("crane"), "push", join(folder, "image"), `${names.image}:${version}`], { log });
  const plain = isLoopback(registry.host) ? ["--plain-http"] : [];
  await command([tool("helm"), "push", chart, `oci://${names.charts}`, ...plain], { log });
  return {
    image: `${names.image}@${await digestOf(`${names.image}:${version}`)}`,
    chart: `${names.chart}@${await digestOf(`${names.chart}:${version}`)}`,
  };
};

const digestOf = async (reference: string): Promise<string> =>
  (await output([tool("crane"), "digest", reference])).trim();

/** Registries on loopback have no certificate; crane and cosign know it by themselves. */
const isLoopback = (host: string): boolean => /^(localhost|127\.[0-9.]+|\[::1\])(:\d+)?$/.test(host);
