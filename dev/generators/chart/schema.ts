import { type TSchema, Type } from "typebox";
import type { GeneratedFile } from "../generated-file.ts";
import { commonValues } from "./values/common.ts";
import { monitoringValues } from "./values/monitoring.ts";
import { networkValues } from "./values/network.ts";
import { programValues } from "./values/programs.ts";
import { closed } from "./values/shapes.ts";
import { storeValues } from "./values/stores.ts";

/** charts/herald/values.schema.json: Helm refuses values that are not in it. */
export const chartSchema = (): GeneratedFile[] => [
  { path: "charts/herald/values.schema.json", text: `${JSON.stringify(document, null, 2)}\n` },
];

const values: Record<string, TSchema> = {
  ...commonValues,
  ...storeValues,
  ...programValues,
  ...networkValues,
  monitoring: monitoringValues,
  global: Type.Object({}, { description: "Helm gives it to every chart; not used" }),
};

const document = {
  $schema: "http://json-schema.org/draft-07/schema#", // what every Helm 3 reads
  $comment: "Generated from dev/generators/chart by `make generate`.",
  title: "Values of the chart herald",
  ...closed("Values of the chart", values),
};
