import { type TSchema, Type } from "typebox";
import { RedisConfig, SharedConfig, StreamsConfig } from "#config/shared.ts";
import { closed, existingSecret, flag, image, kubernetesList, ports, resources, setting, text } from "./shapes.ts";

const bundled = closed("a throwaway server for trials: one replica, no password, no backup", {
  enabled: flag("runs it"),
  image: image("its image"),
  args: Type.Array(Type.String(), { description: "arguments of its program; data belongs below /data", maxItems: 50 }),
  persistence: closed("its disk", {
    enabled: flag("a PersistentVolumeClaim, of a class that heeds fsGroup; false = data is lost with the pod"),
    size: text("e.g. 8Gi", { minLength: 1 }),
    storageClass: text("empty = the cluster's default"),
  }),
  resources: resources("of its container"),
});

const patternOf = (schema: TSchema): string => ("pattern" in schema ? String(schema.pattern) : "");

const store = (description: string, address: TSchema, more: Record<string, TSchema> = {}) =>
  closed(description, {
    ...existingSecret("its address"),
    url: text("its address; the chart keeps it in a Secret", { pattern: `^$|${patternOf(address)}` }),
    networkPolicy: closed("where the NetworkPolicies let the programs go to reach it", {
      ports: ports("its ports"),
      to: kubernetesList("peers as in a NetworkPolicy; empty = anywhere on these ports"),
    }),
    bundled,
    ...more,
  });

/** Values of the servers behind Herald. */
export const storeValues = {
  mongodb: store("MongoDB 7 or later, or FerretDB 2.7 or later", SharedConfig.mongodbUrl, {
    database: setting(SharedConfig.mongodbDatabase),
  }),
  nats: store("NATS 2.12 or later with JetStream", SharedConfig.natsUrl, {
    prefix: setting(SharedConfig.natsPrefix),
    replicas: setting(StreamsConfig.natsReplicas),
    credentials: closed("when NATS asks for them", existingSecret("the content of a .creds file")),
    monitoringEndpoint: text("where KEDA reads what waits, HOST:PORT; empty = the bundled server"),
    account: text("JetStream account that KEDA reads", { minLength: 1 }),
  }),
  redis: store("Redis 7 or later, or Valkey", RedisConfig.redisUrl),
};
