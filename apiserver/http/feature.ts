import type { Declared, Operation, Route } from "./route.ts";

/** What the OpenAPI document says of a feature beside its operations. */
export type Docs = {
  /** What the feature's operations are about, by their tags. */
  tags?: Readonly<Record<string, string>>;
  /** Values of the schemas that the feature names, at least one of each, by the schema's name. */
  examples?: Readonly<Record<string, readonly unknown[]>>;
  /** Parameters of paths by their names: a description, a schema and an example. */
  pathParameters?: Readonly<Record<string, Json>>;
  /** An example of each query member that names no values, by its name. */
  queryExamples?: Readonly<Record<string, unknown>>;
  /**
   * Narrows schemas of requests, by their names, to what is taken: what this release refuses by name, and what the checks
   * behind a schema ask for as well. They stay checks, as they say better what is missing.
   */
  narrowed?: Readonly<Record<string, (schema: Json) => Json>>;
};

export type Json = Record<string, unknown>;

/** Operations on one noun. */
export type Feature<Platform> = {
  operations: readonly (Operation & { isRepeatable: boolean })[];
  docs: Docs;
  /** Makes the use cases and gives back the operations with what answers them. */
  bind: (platform: Platform) => Route[];
};

/** Declares a feature: how its use cases are made of the platform, and the operations that they answer. */
export const feature = <Platform, Use>({
  make,
  routes,
  ...docs
}: Docs & { make: (platform: Platform) => Use; routes: readonly Declared<Use>[] }): Feature<Platform> => ({
  operations: routes,
  docs,
  bind: (platform) => {
    const use = make(platform);
    return routes.map((route) => route.bind(use));
  },
});
