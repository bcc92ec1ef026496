import { type Command, commonExits, commonOptions, type Option } from "./command.ts";

/** What `kubectl herald` says without a command. */
export const helpOfAll = (commands: readonly Command[]): string =>
  [
    "Shows how Herald is doing on a cluster, checks its resources before they are applied, and uses what an app may use.",
    "",
    "Usage:",
    "  kubectl herald COMMAND [options]",
    "",
    "Commands:",
    ...inColumns([
      ...commands.map(({ name, summary }) => [name, summary] as const),
      ["completion", "print a script that completes commands and options in bash, zsh or fish"],
    ]),
    "",
    "Use kubectl herald COMMAND --help for the options of one, its exit codes and the permissions that it needs.",
    "",
  ].join("\n");

/** What `kubectl herald COMMAND --help` says. */
export const helpOf = (command: Command): string =>
  [
    command.details,
    "",
    "Usage:",
    `  ${["kubectl herald", command.name, command.operands, "[options]"].filter(Boolean).join(" ")}`,
    "",
    "Examples:",
    ...command.examples.flatMap(({ says, line }) => [`  # ${says}`, `  kubectl herald ${line}`]),
    "",
    "Options:",
    ...inColumns(Object.entries({ ...command.options, ...commonOptions }).map(optionLine)),
    "",
    "Exit codes:",
    ...inColumns(Object.entries({ ...command.exits, ...commonExits })),
    "",
    "Permissions:",
    ...permissionLines(command),
    "",
  ].join("\n");

const optionLine = ([name, option]: [string, Option]): [string, string] => {
  const { short, choices, description } = option;
  const value = choices?.join("|") ?? option.value;
  return [`${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`, description];
};

const permissionLines = ({ permissions }: Command): string[] =>
  permissions.length === 0
    ? ["  none: it asks no cluster"]
    : inColumns(
        permissions.map(({ verbs, resource, group, why }) => [
          `${verbs.join(", ")} ${resource}${group === "" ? "" : `.${group}`}`,
          why,
        ]),
      );

const inColumns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
};
