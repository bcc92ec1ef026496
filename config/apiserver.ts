import { type Static, Type } from "typebox";
import { worded } from "#core/schema/json/patterns.ts";
import {
  FilesConfig,
  filesNeeds,
  OutgoingConfig,
  poolSize,
  publicUrl,
  RedisConfig,
  SharedConfig,
  tlsDir,
} from "./shared.ts";
import { TracingConfig, tracingNeeds } from "./tracing.ts";

const { Integer, Number: Real, Object: Group, Optional, String: Text } = Type;

/** Settings of the apiserver. */
export const ApiserverConfig = Group(
  {
    ...SharedConfig,
    ...RedisConfig,
    ...FilesConfig,
    ...OutgoingConfig,
    ...TracingConfig,
    traceRatio: Real({
      env: "HERALD_TRACE_RATIO",
      default: 0.01,
      minimum: 0,
      maximum: 1,
      description: "share of the requests that are traced, of those without a traceparent of their caller",
    }),
    callerTracesPerSecond: Integer({
      env: "HERALD_CALLER_TRACES_PER_SECOND",
      default: 5,
      minimum: 0,
      maximum: 10_000,
      description:
        "requests a second of one tenant and replica that are traced because their caller traces them (a sampled " +
        "traceparent, of an authenticated request); 0 = none",
    }),
    publicUrl,
    mongodbPoolSize: poolSize(50),
    httpHost: Text({
      env: "HERALD_HTTP_HOST",
      default: "0.0.0.0",
      minLength: 1,
      maxLength: 255,
      description: "address that the REST interface listens on",
    }),
    httpPort: Integer({
      env: "HERALD_HTTP_PORT",
      default: 8080,
      minimum: 0,
      maximum: 65_535,
      description: "port of the REST interface; 0 takes a free one",
    }),
    httpTlsDir: tlsDir(
      "HERALD_HTTP_TLS_DIR",
      "folder with tls.crt and tls.key (PEM): the REST interface is https then, and new connections get a new certificate " +
        "within 5 s after the files changed; unset = http, for an edge that encrypts",
    ),
    drainSeconds: Integer({
      env: "HERALD_DRAIN_SECONDS",
      default: 0,
      minimum: 0,
      maximum: 300,
      description:
        "seconds after SIGTERM for which requests are still taken, each reply closing its connection, until all proxies " +
        "have heard that this replica goes; part of HERALD_GRACE_SECONDS",
    }),
    requestTimeoutSeconds: Integer({
      env: "HERALD_REQUEST_TIMEOUT_SECONDS",
      default: 30,
      minimum: 1,
      maximum: 300,
      description: "a request that takes longer is answered 504",
    }),
    smtpDomain: Optional(
      Text({
        env: "HERALD_SMTP_DOMAIN",
        pattern: worded("^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$", "must be a host name such as mail.example.com"),
        maxLength: 253,
        description:
          "has the apiserver take mails of people over SMTP, for <id of an app>@<this domain>; unset = it does not listen",
      }),
    ),
    smtpPort: Integer({
      env: "HERALD_SMTP_PORT",
      default: 2525,
      minimum: 0,
      maximum: 65_535,
      description: "port that mails are taken on, where HERALD_SMTP_DOMAIN is set; 0 takes a free one",
    }),
    smtpTlsDir: tlsDir(
      "HERALD_SMTP_TLS_DIR",
      "folder with tls.crt and tls.key (PEM) for STARTTLS, read again within 5 s after they changed; unset = mails come " +
        "unencrypted",
    ),
    edgeRatePerSecond: Integer({
      env: "HERALD_EDGE_RATE_PER_SECOND",
      default: 200,
      minimum: 0,
      maximum: 1_000_000,
      description:
        "requests a second to /v1 of one source address, five times as many to links, pages and downloads; 0 = no " +
        "limit, when the edge has its own",
    }),
    edgeBurst: Integer({
      env: "HERALD_EDGE_BURST",
      default: 400,
      minimum: 1,
      maximum: 1_000_000,
      description: "requests of one source address that may come at once",
    }),
    trustedProxies: Integer({
      env: "HERALD_TRUSTED_PROXIES",
      default: 0,
      minimum: 0,
      maximum: 10,
      description: "proxies in front whose X-Forwarded-For is believed; 0 = the peer's address is the source",
    }),
    inboxStreams: Integer({
      env: "HERALD_INBOX_STREAMS",
      default: 10_000,
      minimum: 0,
      maximum: 50_000,
      description: "open streams of inboxes of one replica, each some 30 kB; who asks for more gets 503 and may poll",
    }),
    replicas: Integer({
      env: "HERALD_REPLICAS",
      default: 1,
      minimum: 1,
      maximum: 1_000,
      description: "replicas of the apiserver; each lets its share of a key's rate through while Redis is away",
    }),
    firstDayMessages: Integer({
      env: "HERALD_FIRST_DAY_MESSAGES",
      default: 1_000,
      minimum: 0,
      maximum: 1_000_000_000,
      description: "deliveries of a new organisation in its first 24 hours, on any plan; 0 = no cap",
    }),
    operatingTenant: Optional(
      Text({
        env: "HERALD_OPERATING_TENANT",
        minLength: 1,
        maxLength: 128,
        description:
          "the tenant that runs this installation, by metadata.name or spec.displayName of its Tenant: its keys with the scope " +
          "admin, unless bound to apps, may write incidents; unset = only resources can. An apiserver does not start with a " +
          "name that no tenant has, but for an installation without tenants",
      }),
    ),
    prometheusUrl: Optional(
      Text({
        env: "HERALD_PROMETHEUS_URL",
        secret: true,
        pattern: worded("^https?://[^\\s]+$", "must be an http or https address"),
        maxLength: 2000,
        description:
          "address of the Prometheus that scrapes this installation, for /status.json; may hold a user and a password; " +
          "unset = what the programs say of themselves",
      }),
    ),
    prometheusSelector: Text({
      env: "HERALD_PROMETHEUS_SELECTOR",
      default: "",
      pattern: worded(
        '^([A-Za-z_][A-Za-z0-9_]*=~?"[^"{}\\\\]*"(,[A-Za-z_][A-Za-z0-9_]*=~?"[^"{}\\\\]*")*)?$',
        'must be label matchers of Prometheus without braces, such as cluster="a",namespace=~"herald|demo"',
      ),
      maxLength: 1000,
      description: 'labels by which Prometheus knows this installation from others, as namespace="herald"',
    }),
  },
  { additionalProperties: false, dependentRequired: { ...filesNeeds, ...tracingNeeds } },
);
export type ApiserverConfig = Static<typeof ApiserverConfig>;
