import { Type } from "typebox";
import { SharedConfig } from "#config/shared.ts";
import { PlanSpec } from "#core/schema/plans/resource.ts";
import {
  closed,
  existing,
  existingSecret,
  flag,
  image,
  kubernetes,
  kubernetesList,
  ports,
  ranges,
  resources,
  setting,
  strings,
  text,
} from "./shapes.ts";

const planName = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

/** A plan as people write it: what has a default may be left out. */
const planItem = Type.Unsafe({
  ...PlanSpec,
  type: ["object", "null"],
  required: Object.entries(PlanSpec.properties).flatMap(([name, member]) =>
    PlanSpec.required.some((one) => one === name) && !("default" in member) ? [name] : [],
  ),
});

/** Values that concern the release as a whole. */
export const commonValues = {
  nameOverride: text('part of names instead of "herald"', { maxLength: 40 }),
  fullnameOverride: text("whole first part of names", { maxLength: 40 }),
  commonLabels: strings("labels of every object and pod"),
  image: image("the one image of the three programs"),
  imagePullSecrets: kubernetesList("Secrets for the registry, e.g. {name: registry}"),
  podSecurityContext: kubernetes("of every pod"),
  containerSecurityContext: kubernetes("of every container"),
  publicUrl: text("address of the REST interface as apps reach it; empty = what Ingress, route or Service say", {
    pattern: "^$|^https?://[^\\s/]+(/\\S*)?$",
  }),
  logLevel: setting(SharedConfig.logLevel),
  extraEnv: kubernetesList("variables for all three programs, as a container's env"),
  outgoing: closed("addresses that users give (webhooks, web push, mail servers) which may be reached", {
    allowedRanges: ranges("private networks, also by plain http and on any port, e.g. 10.1.0.0/16"),
    allowedPorts: ports("ports of the public internet"),
  }),
  trustedCertificates: closed("certificates of private authorities", {
    configMap: existing("name of a ConfigMap that holds them; empty = public authorities only"),
    key: text("the key in that ConfigMap", { minLength: 1 }),
  }),
  crds: closed("the CustomResourceDefinitions", {
    enabled: flag("installs and upgrades them"),
    keep: flag("they, and with them all resources, stay when the release is uninstalled"),
    annotations: strings("annotations of theirs"),
  }),
  keyRing: closed("keys that seal stored credentials", {
    ...existingSecret("kid:base64(32 bytes), one a line; empty = one is made at the first install and kept"),
    lost: setting(SharedConfig.lostKeys),
  }),
  plans: closed("plans of the platform, applied after every install and upgrade", {
    enabled: flag("applies them"),
    labels: strings("labels of every plan; what operator.labelSelector asks for"),
    resources: resources("of the Job that applies them"),
    items: Type.Record(Type.String({ pattern: planName }), planItem, {
      description: "spec of each plan by its name; null = left alone",
      additionalProperties: false,
    }),
  }),
  rbac: closed("ClusterRoles for people", {
    aggregateClusterRoles: flag("adds the kinds of a namespace to the cluster's roles view, edit and admin"),
  }),
};
