import { type Static, Type } from "typebox";
import { worded } from "#core/schema/json/patterns.ts";
import { OutgoingConfig, poolSize, publicUrl, SharedConfig, StreamsConfig } from "./shared.ts";

const { Array: List, Integer, Optional, String: Text } = Type;

/** How much an operator may be told to look at by itself, and nothing else. */
export const watchLimits = { namespaces: 100, secrets: 500 };

/** Settings of the operator. Where the Kubernetes API is, `KUBECONFIG` or the pod's service account say as usual. */
export const OperatorConfig = Type.Object(
  {
    ...SharedConfig,
    ...StreamsConfig,
    ...OutgoingConfig,
    mongodbPoolSize: poolSize(20),
    publicUrl,
    leaseNamespace: Text({
      env: "HERALD_OPERATOR_NAMESPACE",
      default: "default",
      pattern: worded(
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "must be small letters, digits and -, with a letter or digit at both ends",
      ),
      maxLength: 63,
      description: "namespace of the Lease by which one of several operators leads",
    }),
    leaseName: Text({
      env: "HERALD_OPERATOR_LEASE",
      default: "herald-operator",
      pattern: worded(
        "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
        "must be small letters, digits, - and ., with a letter or digit at both ends",
      ),
      maxLength: 253,
      description: "name of that Lease",
    }),
    labelSelector: Optional(
      Text({
        env: "HERALD_OPERATOR_SELECTOR",
        minLength: 1,
        maxLength: 500,
        description:
          "label selector, e.g. herald.dev/installation=eu: only resources with these labels are looked at, so that " +
          "several installations can share a cluster; unset = all",
      }),
    ),
    watchNamespaces: List(
      Text({
        pattern: worded(
          "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
          "must be small letters, digits and -, with a letter or digit at both ends",
        ),
        maxLength: 63,
      }),
      {
        env: "HERALD_OPERATOR_WATCH_NAMESPACES",
        default: [],
        maxItems: watchLimits.namespaces,
        uniqueItems: true,
        description:
          "namespaces whose resources and Secrets are looked at, each by watches of its own; none = all. Kinds without a " +
          "namespace are looked at in any case",
      },
    ),
    watchSecrets: List(
      Text({
        pattern: worded(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`, "must be namespace/name"),
        maxLength: 317,
      }),
      {
        env: "HERALD_OPERATOR_WATCH_SECRETS",
        default: [],
        maxItems: watchLimits.secrets,
        uniqueItems: true,
        description:
          "Secrets as NAMESPACE/NAME: of a namespace of HERALD_OPERATOR_WATCH_NAMESPACES that is named here, no others are looked at",
      },
    ),
    workersPerKind: Integer({
      env: "HERALD_OPERATOR_WORKERS",
      default: 10,
      minimum: 1,
      maximum: 100,
      description: "resources of one kind that are reconciled at the same time; their documents are read in one query",
    }),
    resyncSeconds: Integer({
      env: "HERALD_OPERATOR_RESYNC_SECONDS",
      default: 600,
      minimum: 1,
      maximum: 86_400,
      description:
        "after this long, and up to half of it more, every resource is listed and verified again; what was changed " +
        "behind its back is repaired then",
    }),
    watchIdleSeconds: Integer({
      env: "HERALD_OPERATOR_WATCH_IDLE_SECONDS",
      default: 75,
      minimum: 1,
      maximum: 300,
      description:
        "a watch that is silent for this long, and up to half of it more, is opened anew; the API server sends a " +
        "bookmark about once a minute, so below 70 a healthy watch is opened anew, too",
    }),
  },
  { additionalProperties: false },
);
export type OperatorConfig = Static<typeof OperatorConfig>;
