import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { until } from "../../support/until.ts";

/** A Prometheus of a test's own that scrapes often. */
export type Prometheus = {
  url: string;
  /** Series of an expression now. */
  query: (expr: string) => Promise<unknown[]>;
  /** Trace ids that the exemplars of a metric name. */
  exemplars: (metric: string) => Promise<string[]>;
  /** Names and errors of rules that could not be evaluated. */
  faultyRules: () => Promise<string[]>;
  stop: () => Promise<void>;
};

export type Target = { address: string; labels: Record<string, string> };

export const startPrometheus = async (
  program: string,
  { targets, ruleFiles, port: wanted }: { targets: readonly Target[]; ruleFiles: readonly string[]; port?: number },
): Promise<Prometheus> => {
  const dir = await mkdtemp(join(tmpdir(), "prometheus-"));
  const port = wanted ?? (await freePorts(1))[0] ?? 0;
  const config = {
    global: { scrape_interval: "3s", scrape_timeout: "3s", evaluation_interval: "1s" }, // a scrape may ask stores for 1 s
    rule_files: ruleFiles,
    scrape_configs: [
      {
        job_name: "herald",
        static_configs: targets.map(({ address, labels }) => ({ targets: [address], labels })),
      },
    ],
  };
  await writeFile(join(dir, "prometheus.yml"), stringify(config));
  const child = spawn(
    program,
    [
      `--config.file=${dir}/prometheus.yml`,
      `--storage.tsdb.path=${dir}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--enable-feature=exemplar-storage",
    ],
    { stdio: "ignore" },
  );
  const ended = once(child, "exit");
  const at = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${at}/-/ready`).catch(() => null))?.ok ?? false);
  return {
    url: at,
    query: async (expr) => {
      const { result } = (await ask(`${at}/api/v1/query?query=${encodeURIComponent(expr)}`)) as { result: unknown[] };
      return result;
    },
    exemplars: async (metric) => {
      const since = `start=${Date.now() / 1000 - 3_600}&end=${Date.now() / 1000 + 60}`;
      const data = await ask(`${at}/api/v1/query_exemplars?query=${encodeURIComponent(metric)}&${since}`);
      const found = data as { exemplars: { labels: { trace_id: string } }[] }[];
      return found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id));
    },
    faultyRules: async () => {
      const { groups } = (await ask(`${at}/api/v1/rules`)) as { groups: { rules: RuleState[] }[] };
      const faulty = groups.flatMap(({ rules }) => rules).filter(({ health }) => health !== "ok");
      return faulty.map(({ name, health, lastError }) => `${name}: ${lastError ?? health}`);
    },
    stop: async () => {
      child.kill();
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
};

type RuleState = { name: string; health: "ok" | "err" | "unknown"; lastError?: string };

/** @throws with Prometheus's own words when it cannot answer */
const ask = async (url: string): Promise<unknown> => {
  const reply = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  const body = (await reply.json()) as { status: string; error?: string; data: unknown }; // Prometheus's HTTP API
  if (body.status !== "success") throw new Error(body.error);
  return body.data;
};
