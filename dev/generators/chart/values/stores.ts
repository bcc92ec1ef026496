import { type TSchema, Type } from "typebox";
import { ApiserverConfig } from "#config/apiserver.ts";
import { exportHours, FilesConfig, RedisConfig, SharedConfig, StreamsConfig } from "#config/shared.ts";
import { TracingConfig } from "#config/tracing.ts";
import {
  closed,
  existing,
  existingSecret,
  flag,
  image,
  kubernetesList,
  ports,
  resources,
  setting,
  text,
} from "./shapes.ts";

const args = Type.Array(Type.String(), {
  description: "arguments of its program; data belongs below /data, $(PASSWORD) is that of bundledStores",
  maxItems: 50,
});
const disk = { size: text("e.g. 8Gi", { minLength: 1 }), storageClass: text("empty = the cluster's default") };

const bundled = (more: Record<string, TSchema> = {}) =>
  closed("a server for a try-out: one replica, no backup", {
    enabled: flag("runs it"),
    image: image("its image"),
    args,
    persistence: closed("its disk", {
      enabled: flag("a PersistentVolumeClaim, of a class that heeds fsGroup; false = data is lost with the pod"),
      ...disk,
    }),
    resources: resources("of its container"),
    ...more,
  });

const postgres = closed("the PostgreSQL with DocumentDB that keeps its data", {
  image: image("its image; its entry point is that of the official image postgres"),
  args,
  resources: resources("of its container"),
});

const patternOf = (schema: TSchema): string => ("pattern" in schema ? String(schema.pattern) : "");

const store = (description: string, address: TSchema, more: Record<string, TSchema> = {}, server = bundled()) =>
  closed(description, {
    ...existingSecret("its address"),
    url: text("its address; the chart keeps it in a Secret", { pattern: `^$|${patternOf(address)}` }),
    tls: closed("TLS with a certificate of ours", {
      existingSecret: existing("name of a Secret with tls.crt, tls.key and ca.crt; empty = as the address says"),
    }),
    networkPolicy: closed("where the NetworkPolicies let the programs go to reach it", {
      ports: ports("its ports"),
      to: kubernetesList("peers as in a NetworkPolicy; empty = anywhere on these ports"),
    }),
    bundled: server,
    ...more,
  });

/** A setting that may be left out, which an empty value does. */
const orEmpty = (address: TSchema): TSchema => ({ ...setting(address), pattern: `^$|${patternOf(address)}` });

const secretKey = (description: string): TSchema => text(description, { minLength: 1, pattern: "^[-._a-zA-Z0-9]+$" });

/** Values of the servers behind Herald. */
export const storeValues = {
  bundledStores: closed("servers that come with the chart, to try Herald", {
    password: text("of all of them; empty = made at the first install", { pattern: "^$|^[A-Za-z0-9]{8,128}$" }),
  }),
  mongodb: store(
    "MongoDB 7 or later, or FerretDB 2.7 or later",
    SharedConfig.mongodbUrl,
    { database: setting(SharedConfig.mongodbDatabase) },
    bundled({ postgres }),
  ),
  nats: store("NATS 2.12 or later with JetStream", SharedConfig.natsUrl, {
    prefix: setting(SharedConfig.natsPrefix),
    replicas: setting(StreamsConfig.natsReplicas),
    eventPartitions: setting(SharedConfig.eventPartitions),
    credentials: closed("when NATS asks for them", existingSecret("the content of a .creds file")),
    monitoringEndpoint: text("where KEDA reads what waits, HOST:PORT; empty = the bundled server"),
    account: text("JetStream account that KEDA reads", { minLength: 1 }),
  }),
  redis: store("Redis 7 or later, or Valkey", RedisConfig.redisUrl),
  tracing: closed("traces of requests, for a receiver of OpenTelemetry's protocol", {
    endpoint: orEmpty(TracingConfig.otlpEndpoint),
    ...existingSecret("headers for it, as name=value,name=value"),
    ratio: setting(ApiserverConfig.properties.traceRatio),
    callerTracesPerSecond: setting(ApiserverConfig.properties.callerTracesPerSecond),
    networkPolicy: closed("where the NetworkPolicies let the programs go to reach it", {
      ports: ports("its ports"),
      to: kubernetesList("peers as in a NetworkPolicy; empty = anywhere on these ports"),
    }),
  }),
  files: closed("where the files of exports and imports are kept", {
    s3: closed("a bucket of S3, or of a server that speaks its protocol", {
      bucket: orEmpty(FilesConfig.s3Bucket),
      prefix: setting(FilesConfig.s3Prefix),
      region: setting(FilesConfig.s3Region),
      endpoint: orEmpty(FilesConfig.s3Endpoint),
      publicEndpoint: orEmpty(FilesConfig.s3PublicEndpoint),
      existingSecret: existing("name of a Secret of this namespace that holds an access key"),
      accessKeyIdKey: secretKey("the key of its id in that Secret"),
      secretAccessKeyKey: secretKey("the key of the secret one"),
      networkPolicy: closed("where the NetworkPolicies let the programs go to reach it", {
        ports: ports("its ports"),
        to: kubernetesList("peers as in a NetworkPolicy; empty = anywhere on these ports"),
      }),
    }),
    existingClaim: existing("a PersistentVolumeClaim that the apiserver and all dispatchers share"),
    bundled: closed("a claim for a try-out, on whose node the apiserver and all dispatchers are", {
      enabled: flag("makes it"),
      ...disk,
    }),
    exportHours: setting(exportHours),
  }),
};
