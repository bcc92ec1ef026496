import { type Static, Type } from "typebox";
import { poolSize, SharedConfig } from "./shared.ts";

/** Settings of the operator. Where the Kubernetes API is, `KUBECONFIG` or the pod's service account say as usual. */
export const OperatorConfig = Type.Object(
  { ...SharedConfig, mongodbPoolSize: poolSize(10) },
  { additionalProperties: false },
);
export type OperatorConfig = Static<typeof OperatorConfig>;
