import { document, operations } from "../../../apiserver/features.ts";
import type { GeneratedFile } from "../generated-file.ts";
import { code, codes, table } from "./markdown.ts";

type Operation = (typeof operations)[number];

/** docs/reference/operations.md: every operation with its scope, the plan's feature, its own errors and what a repeat does. */
export const operationsPage = (): GeneratedFile[] => [{ path: "docs/reference/operations.md", text: page() }];

const tags = document()["tags"] as readonly { name: string; description: string }[]; // sound: openapi() writes them so

const page = (): string => `# Operations

<!-- Generated from the routes of apiserver/ by \`make generate\`. -->

Every operation of the REST interface. Members, bounds and examples are in [openapi.json](../openapi.json), and on the pages
that an installation serves below \`/docs/\`.

- **Scope**: [what the key needs](requests.md#scopes), either where two are named. \`admin\` opens all.
- **Feature**: what the [plan](limits.md#plan-features) has to include.
- **Key**: whether an [\`Idempotency-Key\`](requests.md#idempotency) makes a repeat safe.
- **Errors**: those of this operation besides [those of all](requests.md#error-codes).

${tags.map(section).join("\n\n")}
`;

const section = ({ name, description }: { name: string; description: string }): string =>
  `## ${name}\n\n${description}\n\n${table(
    ["Operation", "", "What it does", "Scope", "Feature", "Key", "Errors"],
    operations.filter(({ tag }) => tag === name).map(rowOf),
  )}`;

const rowOf = (operation: Operation): string[] => [
  code(operation.id),
  code(`${operation.method} ${operation.path}`),
  operation.summary,
  typeof operation.scopes === "string" ? keyless[operation.scopes] : operation.scopes.map(code).join(" or "),
  operation.feature === undefined ? "" : code(operation.feature),
  honoursKey(operation) ? "yes" : "",
  codes((operation.errors ?? []).filter((name) => !saidElsewhere.has(name))),
];

/** What requests have instead of a key. */
const keyless = {
  public: "none: needs no key",
  app: "none: devices, with the id of their app",
  device: "none: devices, with their secret",
};

/** Whether a repeat with the same `Idempotency-Key` gets the first reply. */
const honoursKey = ({ headers }: Operation): boolean => headers?.["Idempotency-Key"] !== undefined;

/** Errors that follow from what other columns say. */
const saidElsewhere: ReadonlySet<string> = new Set([
  "HS_PLAN_FEATURE_REQUIRED",
  "HS_IDEMPOTENCY_IN_PROGRESS",
  "HS_IDEMPOTENCY_KEY_REUSED",
]);
