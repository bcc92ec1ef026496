import { type Command, commonOptions, UsageError } from "./command.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** A script for a shell that completes `kubectl-herald` and, by kubectl's own completion, `kubectl herald`. */
export const completion = (shell: string | undefined, commands: readonly Command[]): string => {
  const known = shells.find((one) => one === shell);
  if (known === undefined) throw new UsageError(`completion takes ${shells.join(", ")}`);
  return scripts[known](commands);
};

/** kubectl asks this program for words when it completes `kubectl herald`, one a line with the directive 4: no files. */
export const words = (commands: readonly Command[], typed: readonly string[]): string[] => {
  const [name, ...rest] = typed;
  const last = typed.at(-1) ?? "";
  if (rest.length === 0)
    return [...commands.map((one) => one.name), "completion"].filter((one) => one.startsWith(last));
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return name === "completion" ? shells.filter((one) => one.startsWith(last)) : [];
  const before = rest.at(-2)?.replace(/^--?/, "") ?? "";
  const asked = Object.entries(command.options).find(([long, { short }]) => before === long || before === short)?.[1];
  if (asked?.choices !== undefined) return asked.choices.filter((one) => one.startsWith(last));
  return optionsOf(command).filter((one) => one.startsWith(last));
};

const optionsOf = ({ options }: Command): string[] =>
  Object.keys({ ...options, ...commonOptions }).map((name) => `--${name}`);

const scripts: Record<(typeof shells)[number], (commands: readonly Command[]) => string> = {
  bash: () => `_kubectl_herald() {
  local IFS=$'\\n'
  COMPREPLY=($(kubectl-herald __complete "\${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null | grep -v '^:'))
}
complete -o default -F _kubectl_herald kubectl-herald
`,
  zsh: () => `#compdef kubectl-herald
_kubectl_herald() {
  local -a found
  found=(\${(f)"$(kubectl-herald __complete "\${words[@]:1:$((CURRENT - 1))}" 2>/dev/null | grep -v '^:')"})
  compadd -a found
}
compdef _kubectl_herald kubectl-herald
`,
  fish: (commands) =>
    commands
      .flatMap(({ name, summary, options }) => [
        `complete -c kubectl-herald -n __fish_use_subcommand -a ${name} -d ${JSON.stringify(summary)}`,
        ...Object.entries(options).map(
          ([long, { description }]) =>
            `complete -c kubectl-herald -n "__fish_seen_subcommand_from ${name}" -l ${long} -d ${JSON.stringify(description)}`,
        ),
      ])
      .join("\n")
      .concat("\n"),
};
