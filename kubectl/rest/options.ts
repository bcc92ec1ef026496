import type { Option, Permission } from "../kit/command.ts";

/** The options of a command that uses the REST interface. */
export const restOptions = {
  app: { type: "string", value: "APP", description: "the App, where the key is for several" },
  key: { type: "string", value: "APIKEY", description: "the ApiKey; the one with the fewest scopes when left out" },
  service: {
    type: "string",
    value: "NAMESPACE/NAME",
    description: "the Service of the apiserver, after https: where it serves TLS; found by its labels when left out",
  },
  output: { type: "string", short: "o", choices: ["json", "yaml"], description: "how it is printed" },
} as const satisfies Record<string, Option>;

const herald = "herald.dev";

/** What a command asks for that uses the REST interface; `writes` where it sends or changes something there. */
export const restPermissions = (verbs: "reads" | "writes" | "both"): Permission[] => [
  { group: herald, resource: "apikeys", verbs: ["get", "list"], why: "which keys there are; with --key get is enough" },
  { group: herald, resource: "apps", verbs: ["get"], why: "the App's id, with --app" },
  {
    group: "",
    resource: "secrets",
    verbs: ["get"],
    why: "the ApiKey's Secret: who may not read it cannot use the key",
  },
  { group: "", resource: "services", verbs: ["list"], why: "where the REST interface is; not with --service" },
  {
    group: "",
    resource: "services/proxy",
    verbs: verbs === "reads" ? ["get"] : verbs === "writes" ? ["create"] : ["get", "create"],
    why: "the REST interface, by the API server",
  },
];
