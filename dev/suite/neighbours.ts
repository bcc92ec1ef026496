/**
 * Files that judge how long something takes, or look for the one program of a name. They run at the end, one after the
 * other, with nothing beside them.
 */
export const alone: readonly string[] = [
  "test/integration/operator/engine/within-a-second.test.ts",
  "test/integration/dev/profile.test.ts",
  "test/chaos/webhooks/isolation.test.ts",
];

/** The same in `make soak` alone, where they judge more sharply. */
export const aloneInSoak: readonly string[] = ["test/integration/service/throttle.test.ts"];

/** Files that cannot run side by side, and why: they share a process. */
export const sharingOneProcess: readonly { files: readonly string[]; because: string }[] = [
  {
    files: [
      "test/integration/operator/resources/gitops.test.ts",
      "test/integration/operator/resources/samples.test.ts",
    ],
    because: "both apply config/samples, whose names are the whole cluster's",
  },
  {
    files: ["pods", "rest"].map((name) => `test/integration/kubectl/${name}.test.ts`),
    because: "both are the network into which the API server's proxies lead",
  },
  {
    files: ["fence", "kill", "owners", "stores"].map((name) => `test/chaos/webhooks/${name}.test.ts`),
    because: "they share an installation, whose stores they take away",
  },
  {
    files: ["manifests", "health", "permissions", "plans", "release"].map((name) => `test/chart/${name}.test.ts`),
    because: "they give the cluster kinds of others and the chart's roles, and take them away",
  },
];
