import { Type } from "typebox";
import { timingNames } from "#core/domain/timing.ts";
import { worded } from "#core/schema/json/patterns.ts";

const { Array: List, Enum, Integer, Optional, String: Text } = Type;

/** A folder of certificates, replaced while we run. */
export const tlsDir = (env: string, description: string) =>
  Optional(Text({ env, minLength: 1, maxLength: 1000, description }));

const clientTlsDir = (env: string, store: string) =>
  tlsDir(
    env,
    `folder with tls.crt, tls.key and ca.crt (PEM): ${store} is spoken to with TLS, whatever the address says, shown this ` +
      "certificate and believed only with one that ca.crt vouches for; read again within 5 s after they changed. Unset = " +
      "as the address says, without a certificate of ours",
  );

/** Settings of every program: the stores, its health port, its logs. */
export const SharedConfig = {
  mongodbUrl: Text({
    env: "HERALD_MONGODB_URL",
    pattern: worded("^mongodb(\\+srv)?://.+", "must begin with mongodb:// or mongodb+srv://"),
    maxLength: 2000,
    description: "address of MongoDB (7 or later) or FerretDB (2.7 or later); may hold credentials",
  }),
  mongodbDatabase: Text({
    env: "HERALD_MONGODB_DATABASE",
    default: "herald",
    pattern: worded("^[A-Za-z0-9_-]{1,63}$", "must be 1 to 63 letters, digits, - and _"),
    description: "database that this installation owns",
  }),
  mongodbTlsDir: clientTlsDir("HERALD_MONGODB_TLS_DIR", "MongoDB"),
  natsUrl: Text({
    env: "HERALD_NATS_URL",
    pattern: worded("^(nats|tls)://.+", "must begin with nats:// or tls://"),
    maxLength: 2000,
    description: "address of NATS (2.12 or later) with JetStream; several separated by commas; may hold a login",
  }),
  natsCredentials: Optional(
    Text({
      env: "HERALD_NATS_CREDENTIALS",
      secret: true,
      minLength: 1,
      maxLength: 65_536,
      description: "content of a .creds file, when NATS asks for one; mount it: HERALD_NATS_CREDENTIALS_FILE",
    }),
  ),
  natsTlsDir: clientTlsDir("HERALD_NATS_TLS_DIR", "NATS"),
  natsPrefix: Text({
    env: "HERALD_NATS_PREFIX",
    default: "herald",
    pattern: worded("^[A-Za-z0-9_-]{1,32}$", "must be 1 to 32 letters, digits, - and _"),
    description: "first part of every subject and stream name, so that installations can share one NATS",
  }),
  keyRing: Text({
    env: "HERALD_KEY_RING",
    secret: true,
    minLength: 1,
    maxLength: 65_536,
    description:
      "lines or commas of kid:base64(32 bytes); the first key writes, all read; mount it: HERALD_KEY_RING_FILE",
  }),
  lostKeys: List(Text({ pattern: worded("^[A-Za-z0-9_.-]{1,64}$", "must be 1 to 64 letters, digits, _, . and -") }), {
    env: "HERALD_LOST_KEYS",
    default: [],
    maxItems: 100,
    uniqueItems: true,
    description:
      "keys that are lost for good: without one that seals something no program starts unless it is named here",
  }),
  eventPartitions: Integer({
    env: "HERALD_EVENT_PARTITIONS",
    default: 16,
    minimum: 16,
    maximum: 128,
    multipleOf: 16,
    description:
      "partitions of an installation's events, a multiple of 16, settled when it is made: so many dispatchers at most share " +
      "the work of webhooks, and each partition costs JetStream a consumer. Set it alike in all three programs",
  }),
  healthHost: Text({
    env: "HERALD_HEALTH_HOST",
    default: "0.0.0.0",
    minLength: 1,
    maxLength: 255,
    description: "address that /healthz, /readyz and /metrics listen on",
  }),
  healthPort: Integer({
    env: "HERALD_HEALTH_PORT",
    default: 9090,
    minimum: 0,
    maximum: 65_535,
    description: "port of /healthz, /readyz and /metrics; 0 takes a free one",
  }),
  logLevel: Enum(["debug", "info", "warn", "error"], {
    env: "HERALD_LOG_LEVEL",
    default: "info",
    description: "least severe level that is written",
  }),
  timing: Enum([...timingNames], {
    env: "HERALD_TIMING",
    default: "usual",
    description:
      "after how long a program that stands still is taken for dead: of its leases, of hints without an answer, of the " +
      "owners of webhook endpoints and of the leader. usual: 10 to 30 s; short: 3 to 6 s, for tests. Set it alike in all " +
      "three programs, and change it only while none runs",
  }),
  graceSeconds: Integer({
    env: "HERALD_GRACE_SECONDS",
    default: 25,
    minimum: 1,
    maximum: 600,
    description: "seconds from SIGTERM to finish what is in hand; keep it below the pod's termination grace (30)",
  }),
};

/** How JetStream keeps streams; the programs that make them use it. */
export const StreamsConfig = {
  natsReplicas: Integer({
    env: "HERALD_NATS_REPLICAS",
    default: 1,
    minimum: 1,
    maximum: 5,
    description:
      "copies that JetStream keeps of each stream, each on a server of its own: with 3 nothing stops when one server is " +
      "lost; streams that exist are changed at the next start",
  }),
};

/** Redis holds only what may be lost; the apiserver and the dispatcher use it. */
export const RedisConfig = {
  redisUrl: Text({
    env: "HERALD_REDIS_URL",
    pattern: worded(
      "^rediss?(\\+cluster)?://.+",
      "must begin with redis://, rediss://, redis+cluster:// or rediss+cluster://",
    ),
    maxLength: 2000,
    description: "address of Redis (7 or later) or Valkey, or of a node of a Redis Cluster; may hold credentials",
  }),
  redisTlsDir: clientTlsDir("HERALD_REDIS_TLS_DIR", "Redis"),
};

/**
 * Where files are kept: exports until they are downloaded, imports until they are read. The apiserver and the dispatcher
 * use it: set it alike in both.
 */
export const FilesConfig = {
  filesDir: Optional(
    Text({
      env: "HERALD_FILES_DIR",
      pattern: worded("^/.+", "must be a path that begins with /"),
      maxLength: 500,
      description:
        "folder for files when no bucket is named: one that the apiserver and every dispatcher share; without either " +
        "exports and imports are refused",
    }),
  ),
  s3Bucket: Optional(
    Text({
      env: "HERALD_S3_BUCKET",
      pattern: worded(
        "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$",
        "must be a bucket's name: 3 to 63 small letters, digits, - and ., with a letter or digit at both ends",
      ),
      description: "bucket of S3, or of a server that speaks its protocol, for files; it has to exist",
    }),
  ),
  s3Prefix: Text({
    env: "HERALD_S3_PREFIX",
    default: "herald/",
    pattern: worded(
      "^([A-Za-z0-9_-]{1,64}/){1,4}$",
      "must be 1 to 4 names of letters, digits, - and _, each with a / behind it",
    ),
    description: "first part of every key, so that a bucket can be shared",
  }),
  s3Region: Text({
    env: "HERALD_S3_REGION",
    default: "us-east-1",
    pattern: worded("^[a-z0-9-]{1,64}$", "must be 1 to 64 small letters, digits and -"),
    description: "region of the bucket",
  }),
  s3Endpoint: Optional(
    Text({
      env: "HERALD_S3_ENDPOINT",
      pattern: worded("^https?://[^\\s/]+/?$", "must be an http or https address without a path"),
      maxLength: 500,
      description: "address of a server of your own, as the programs reach it; without it AWS is asked",
    }),
  ),
  s3PublicEndpoint: Optional(
    Text({
      env: "HERALD_S3_PUBLIC_ENDPOINT",
      pattern: worded("^https?://[^\\s/]+/?$", "must be an http or https address without a path"),
      maxLength: 500,
      description: "the same server as those reach it who download; without it HERALD_S3_ENDPOINT stands in addresses",
    }),
  ),
  s3AccessKeyId: Optional(
    Text({
      env: "HERALD_S3_ACCESS_KEY_ID",
      minLength: 1,
      maxLength: 200,
      description: "without it credentials are looked for as AWS's SDK does: variables, web identity, instance",
    }),
  ),
  s3SecretAccessKey: Optional(
    Text({
      env: "HERALD_S3_SECRET_ACCESS_KEY",
      secret: true,
      minLength: 1,
      maxLength: 500,
      description: "of the access key; mount it: HERALD_S3_SECRET_ACCESS_KEY_FILE",
    }),
  ),
};

/** How long the file of an export is kept; the dispatcher uses it. */
export const exportHours = Integer({
  env: "HERALD_EXPORT_HOURS",
  default: 24,
  minimum: 1,
  maximum: 168,
  description: "hours for which the file of an export can be downloaded; it is removed then",
});

/** Which of them need one another. */
export const filesNeeds = {
  s3Endpoint: ["s3Bucket"],
  s3PublicEndpoint: ["s3Endpoint"],
  s3AccessKeyId: ["s3SecretAccessKey"],
  s3SecretAccessKey: ["s3AccessKeyId"],
};

/**
 * Which addresses that users give may be reached. The dispatcher judges them when it sends; the apiserver and the
 * operator already when they are given: set them alike in all three.
 */
export const OutgoingConfig = {
  allowedRanges: List(Text({ format: "cidr" }), {
    env: "HERALD_ALLOWED_RANGES",
    default: [],
    maxItems: 64,
    description:
      "private networks where webhooks, web pushes and mail servers of apps may be reached, also by plain http and on any port, as 10.1.0.0/16",
  }),
  allowedPorts: List(Integer({ minimum: 1, maximum: 65_535 }), {
    env: "HERALD_ALLOWED_PORTS",
    default: [443, 8443],
    minItems: 1,
    maxItems: 64,
    description: "ports of the public internet that webhooks and web pushes may be sent to",
  }),
};

/** Set it alike in all three programs. */
export const publicUrl = Text({
  env: "HERALD_PUBLIC_URL",
  default: "http://127.0.0.1:8080",
  pattern: worded("^https?://[^\\s/]+(/\\S*)?$", "must be an http or https address with a host"),
  maxLength: 2000,
  description:
    "address of the apiserver as apps and providers reach it; written into every connection Secret as base_url, and into " +
    "what is sent, so that providers' callbacks come back",
});

/** Connections to MongoDB of one process. */
export const poolSize = (standard: number) =>
  Integer({
    env: "HERALD_MONGODB_POOL_SIZE",
    default: standard,
    minimum: 2,
    maximum: 500,
    description: "connections to MongoDB that this process opens at most",
  });
