import { prometheusImage } from "../../../../dev/e2e/prometheus-image.ts";
import { programs, releaseName } from "../release.ts";
import type { Cluster } from "./cluster.ts";

const name = "prometheus";
const namespace = "monitoring";
const named = { name, namespace };

/** A Prometheus in the cluster, in the namespace that the NetworkPolicies let read metrics. */
export type Monitor = {
  /** As pods reach it. */
  url: string;
  /** Queries that it has answered so far, of everybody. */
  answered: () => Promise<number>;
  remove: () => Promise<void>;
};

/** Starts one that finds the release's pods and scrapes them, on the node that stays up. */
export const startMonitor = async (cluster: Cluster): Promise<Monitor> => {
  const [node] = await cluster.nodes();
  const items = [config, service, podOn(node?.metadata.name ?? "")];
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await cluster.kubectl(["apply", "-f", "-"], { input });
  await cluster.kubectl(["wait", "pod", name, "-n", namespace, "--for=condition=Ready", "--timeout=120s"], {
    timeoutMs: 130_000, // on a busy machine a pod takes a minute to start
  });
  const metrics = `/api/v1/namespaces/${namespace}/services/${name}:9090/proxy/metrics`;
  return {
    url: `http://${name}.${namespace}.svc:9090`,
    answered: async () => {
      const text = await cluster.kubectl(["get", "--raw", metrics]);
      return Number(
        /^prometheus_http_requests_total\{code="200",handler="\/api\/v1\/query"\} (\d+)/m.exec(text)?.[1] ?? 0,
      );
    },
    remove: async () => void (await cluster.kubectl(["delete", "--wait=false", "-f", "-"], { input })),
  };
};

/** The pods of each program are found by the names of the chart's headless Services: Debian's Prometheus has no Kubernetes discovery. */
const scraped = {
  global: { scrape_interval: "3s", scrape_timeout: "3s" },
  scrape_configs: [
    {
      job_name: "herald",
      dns_sd_configs: [
        {
          names: programs.map((program) => `${releaseName}-${program}-health.${releaseName}.svc.cluster.local`),
          type: "A",
          port: 9090,
          refresh_interval: "3s",
        },
      ],
      relabel_configs: [{ target_label: "namespace", replacement: releaseName }],
    },
  ],
};

const config = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: named,
  data: { "prometheus.yml": JSON.stringify(scraped) }, // JSON is YAML
};

const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: named,
  spec: { selector: { app: name }, ports: [{ port: 9090 }] },
};

/** As Pod Security "restricted" wants it. */
const podOn = (nodeName: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { ...named, labels: { app: name } },
  spec: {
    nodeName,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65_532,
      fsGroup: 65_532,
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [
      {
        name,
        image: prometheusImage,
        imagePullPolicy: "IfNotPresent",
        args: ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/data"],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        readinessProbe: { httpGet: { path: "/-/ready", port: 9090 }, periodSeconds: 1, timeoutSeconds: 5 },
        volumeMounts: [
          { name: "config", mountPath: "/etc/prometheus" },
          { name: "data", mountPath: "/data" },
        ],
      },
    ],
    volumes: [
      { name: "config", configMap: { name } },
      { name: "data", emptyDir: {} },
    ],
  },
});
