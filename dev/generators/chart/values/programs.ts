import { type TSchema, Type } from "typebox";
import { ApiserverConfig } from "#config/apiserver.ts";
import { DispatcherConfig, dispatcherGraceSeconds } from "#config/dispatcher.ts";
import { OperatorConfig, watchLimits } from "#config/operator.ts";
import { SharedConfig } from "#config/shared.ts";
import {
  closed,
  count,
  existing,
  existingSecret,
  flag,
  kubernetes,
  kubernetesList,
  ports,
  resources,
  setting,
  strings,
  text,
  texts,
} from "./shapes.ts";

const { properties: api } = ApiserverConfig;

const budget = closed("PodDisruptionBudget", {
  enabled: flag("makes one"),
  minAvailable: Type.Union([Type.Integer(), Type.String()], { description: "pods that must stay, or a percentage" }),
  maxUnavailable: Type.Union([Type.Integer(), Type.String()], { description: "pods that may go, or a percentage" }),
});

const serviceAccount = closed("ServiceAccount", {
  create: flag("makes one"),
  name: text("its name; empty = made from the release's name"),
  annotations: strings("annotations of it"),
});

/** Values that every program has. */
const program = (description: string, more: Record<string, TSchema> = {}) =>
  closed(description, {
    replicas: count("pods", 0, 1_000),
    graceSeconds: setting(SharedConfig.graceSeconds),
    updateStrategy: kubernetes("strategy of the Deployment"),
    resources: resources("of the container"),
    podDisruptionBudget: budget,
    serviceAccount,
    extraEnv: kubernetesList("variables for this program only, as a container's env"),
    extraEnvFrom: kubernetesList("as a container's envFrom"),
    extraVolumes: kubernetesList("more volumes of the pod"),
    extraVolumeMounts: kubernetesList("where they are mounted"),
    annotations: strings("annotations of the Deployment"),
    podAnnotations: strings("annotations of its pods"),
    podLabels: strings("labels of its pods"),
    priorityClassName: text("name of a PriorityClass"),
    nodeSelector: strings("labels of the nodes it may run on"),
    tolerations: kubernetesList("taints of nodes that it bears"),
    affinity: kubernetes("as in a pod; empty = spread over zones"),
    topologySpreadConstraints: kubernetesList("as in a pod; empty = spread over nodes"),
    ...more,
  });

const scaling = {
  enabled: flag("lets the number of pods follow the load"),
  minReplicas: count("pods at least", 1, 1_000),
  maxReplicas: count("pods at most", 1, 1_000),
  targetCPUUtilizationPercentage: count(
    "CPU used of what is requested, in percent; 0 = not looked at, nor is it with KEDA",
    0,
    1_000,
  ),
  metrics: kubernetesList("more metrics, as in a HorizontalPodAutoscaler; none with KEDA"),
  behavior: kubernetes("how fast it scales, as in a HorizontalPodAutoscaler"),
};

const keda = closed("scales by what waits in JetStream; needs KEDA", {
  enabled: flag("makes a ScaledObject instead of a HorizontalPodAutoscaler"),
  lagThreshold: count("hints that one pod may have waiting, for each consumer but that of chunks", 1, 1_000_000),
  chunkLagThreshold: count("chunks that one pod may have waiting or in hand", 1, 1_000_000),
  plans: texts("plans whose streams are watched; empty = those of plans.items, if plans.enabled"),
  pollingInterval: count("seconds between two looks", 1, 3_600),
  cooldownPeriod: count("seconds without work before the last pods above the least go", 0, 86_400),
  fallbackReplicas: count("pods while JetStream cannot be asked; 0 = maxReplicas", 0, 1_000),
  triggers: kubernetesList("more triggers, as in a ScaledObject"),
});

const service = closed("Service of the REST interface", {
  type: Type.Enum(["ClusterIP", "NodePort", "LoadBalancer"], { description: "type of the Service" }),
  port: count("its port", 1, 65_535),
  nodePort: count("with type NodePort; 0 = any free one", 0, 65_535),
  annotations: strings("annotations of it"),
  loadBalancerClass: text("class of load balancer"),
  loadBalancerSourceRanges: texts("networks that may reach the load balancer"),
  externalTrafficPolicy: Type.Enum(["", "Cluster", "Local"], { description: "Local keeps source addresses" }),
  trafficDistribution: text("e.g. PreferSameZone"),
});

const ingress = closed("Ingress to /v1", {
  enabled: flag("makes one"),
  className: text("class of the controller"),
  annotations: strings("annotations of it"),
  hosts: texts("names of hosts"),
  tls: kubernetesList("as in an Ingress"),
  nginxLimits: flag("has ingress-nginx hold edgeLimit too, and the zones sdk_ip and auth_ip"),
});

const httpRoute = closed("HTTPRoute of the Gateway API to /v1", {
  enabled: flag("makes one"),
  annotations: strings("annotations of it"),
  parentRefs: kubernetesList("gateways"),
  hostnames: texts("names of hosts"),
  filters: kubernetesList("as in an HTTPRoute's rule"),
});

const edgeLimit = closed("requests to /v1 of one source address: zone api_ip", {
  requestsPerSecond: setting(api.edgeRatePerSecond),
  burst: setting(api.edgeBurst),
});

const smtp = closed("takes mails of people over SMTP, which become conversations", {
  domain: text("mails are for <id of an app>@<this domain>; empty = it does not listen", {
    pattern: "^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?)?$",
    maxLength: 253,
  }),
  existingSecret: existing("name of a Secret with tls.crt and tls.key, for STARTTLS; empty = mails come unencrypted"),
  service: closed("Service of the listener", {
    type: Type.Enum(["ClusterIP", "NodePort", "LoadBalancer"], { description: "type of the Service" }),
    port: count("its port", 1, 65_535),
    annotations: strings("annotations of it"),
    loadBalancerClass: text("class of load balancer"),
    loadBalancerSourceRanges: texts("networks that may reach the load balancer"),
    externalTrafficPolicy: Type.Enum(["", "Cluster", "Local"], { description: "Local keeps source addresses" }),
  }),
});

const status = closed("what the status page and /status.json are judged by, and who may write incidents", {
  operatingTenant: setting({ ...api.operatingTenant, minLength: 0 }),
  prometheusUrl: text("address of the Prometheus that scrapes this installation; empty = what the programs say"),
  prometheusSelector: setting(api.prometheusSelector),
  networkPolicy: closed("where the NetworkPolicies let the apiserver go to reach it", {
    ports: ports("its ports"),
    to: kubernetesList("peers as in a NetworkPolicy; empty = anywhere on these ports"),
  }),
});

const { watchNamespaces } = OperatorConfig.properties;
const secretNames = { pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", maxLength: 253 };

const watchedNamespace = Type.Object(
  {
    name: Type.String({ ...watchNamespaces.items, description: "its name" }),
    secrets: Type.Optional(
      Type.Array(Type.String(secretNames), {
        maxItems: watchLimits.secrets,
        uniqueItems: true,
        description: "the only Secrets of it that the operator may read and write; none = all",
      }),
    ),
  },
  { additionalProperties: false },
);

/** Values of the three programs. */
export const programValues = {
  operator: program("makes true what resources say", {
    rbac: closed("its permissions", {
      create: flag("makes ClusterRole and Roles"),
      namespaces: Type.Array(watchedNamespace, {
        maxItems: watchLimits.namespaces,
        description: "where it may look; none = everywhere",
      }),
    }),
    labelSelector: text("only resources with these labels are looked at; empty = all", { maxLength: 500 }),
  }),
  apiserver: program("the REST interface", {
    service,
    ingress,
    httpRoute,
    edgeLimit,
    tls: closed("https in place of http", {
      existingSecret: existing("name of a Secret with tls.crt and tls.key; empty = http"),
    }),
    smtp,
    status,
    drainSeconds: setting(api.drainSeconds),
    trustedProxies: Type.Union([setting(api.trustedProxies), Type.Literal("")], {
      description: "proxies in front whose X-Forwarded-For is believed; empty = 1 with an Ingress or HTTPRoute, else 0",
    }),
    autoscaling: closed("HorizontalPodAutoscaler", scaling),
  }),
  dispatcher: program("delivers", {
    graceSeconds: setting({ ...DispatcherConfig.properties.graceSeconds, minimum: dispatcherGraceSeconds }),
    mail: closed("mail server that tells owners of failing webhooks", {
      ...existingSecret("its address, smtps://user:password@mail.example.com:465"),
      from: text("sender of these mails"),
    }),
    autoscaling: closed("HorizontalPodAutoscaler or ScaledObject", { ...scaling, keda }),
  }),
};
