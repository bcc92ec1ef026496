import { commands } from "../../kubectl/commands.ts";
import { type Command, commonExits, commonOptions, type Option } from "../../kubectl/kit/command.ts";
import { rules } from "../../kubectl/lint/finding.ts";
import type { GeneratedFile } from "./generated-file.ts";

/** The reference of `kubectl herald`: its commands with their options, exit codes and permissions, and the rules of lint. */
export const kubectlPage = (): GeneratedFile[] => [{ path: "docs/reference/kubectl-herald.md", text: page() }];

const page = (): string =>
  [
    "<!-- Made by make generate from kubectl/commands.ts; do not edit. -->",
    "",
    "# kubectl herald",
    "",
    "What it is for and how to install it: [kubectl-herald.md](../kubectl-herald.md). Its rights are those of whoever runs",
    "it: it uses their kubeconfig and nothing else. `send` and `webhook` send something; all others only read.",
    "",
    ...commands.flatMap(section),
    "## Common options",
    "",
    ...optionTable(commonOptions),
    "## Exit codes",
    "",
    ...table(["Code", "When"], Object.entries(commonExits)),
    "## Permissions",
    "",
    "What each command asks of the Kubernetes API. What a caller may not list is left out, and said.",
    "",
    ...table(
      ["Command", "Verbs", "Resource", "API group", "For"],
      commands.flatMap(({ name, permissions }) =>
        permissions.map(({ verbs, resource, group, why }) => [
          code(name),
          verbs.join(", "),
          code(resource),
          group === "" ? "core" : code(group),
          why,
        ]),
      ),
    ),
    "## Rules of lint",
    "",
    ...table(
      ["Rule", "What holds"],
      Object.entries(rules).map(([name, text]) => [code(name), text]),
    ),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");

const section = (command: Command): string[] => [
  `## ${command.name}`,
  "",
  command.details,
  "",
  "```sh",
  ...command.examples.flatMap(({ says, line }) => [`# ${says}`, `kubectl herald ${line}`]),
  "```",
  "",
  ...optionTable(command.options),
  ...table(["Exit code", "When"], Object.entries(command.exits)),
];

const optionTable = (options: Record<string, Option>): string[] =>
  table(
    ["Option", "What it does"],
    Object.entries(options).map(([name, { short, value, choices, description }]) => [
      code([short ? `-${short},` : "", `--${name}`, choices?.join("|") ?? value ?? ""].filter(Boolean).join(" ")),
      description,
    ]),
  );

const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `| ${heads.join(" | ")} |`,
  `|${heads.map(() => "---|").join("")}`,
  ...rows.map((row) => `| ${row.join(" | ")} |`),
  "",
];
