import { type Command, commonOptions } from "./command.ts";
import { UsageError } from "./errors.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** A script for a shell that completes `kubectl-herald` and, by kubectl's own completion, `kubectl herald`. */
export const completion = (shell: string | undefined, commands: readonly Command[]): string => {
  const known = shells.find((one) => one === shell);
  if (known === undefined) throw new UsageError(`completion takes ${shells.join(", ")}`);
  return scripts[known](commands);
};

/** kubectl asks this program for words when it completes `kubectl herald`, one a line with the directive 4: no files. */
export const words = (commands: readonly Command[], typed: readonly string[]): string[] => {
  const last = typed.at(-1) ?? "";
  if (typed[0] === "completion" && typed.length > 1) return shells.filter((one) => one.startsWith(last));
  const command = commands.find(({ name }) => isBegin(name.split(" "), typed.slice(0, -1)));
  if (command === undefined) return nextWords(commands, typed.slice(0, -1)).filter((one) => one.startsWith(last));
  const before = typed.at(-2)?.replace(/^--?/, "") ?? "";
  const asked = Object.entries(command.options).find(([long, { short }]) => before === long || before === short)?.[1];
  if (asked?.choices !== undefined) return asked.choices.filter((one) => one.startsWith(last));
  return optionsOf(command).filter((one) => one.startsWith(last));
};

const isBegin = (words: readonly string[], of: readonly string[]): boolean => words.every((word, n) => word === of[n]);

/** What may follow words that are no command yet. */
const nextWords = (commands: readonly Command[], typed: readonly string[]): string[] => {
  const names = [...commands.map(({ name }) => name.split(" ")), ["completion"]];
  const next = names.filter((words) => isBegin(typed, words)).map((words) => words[typed.length] ?? "");
  return [...new Set(next)].filter((word) => word !== "");
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
        fishWord(name.split(" "), summary),
        ...Object.entries(options).map(
          ([long, { description }]) =>
            `complete -c kubectl-herald -n "__fish_seen_subcommand_from ${name.split(" ").at(-1)}" -l ${long} -d ${JSON.stringify(description)}`,
        ),
      ])
      .join("\n")
      .concat("\n"),
};

const fishWord = ([first = "", second]: string[], summary: string): string =>
  second === undefined
    ? `complete -c kubectl-herald -n __fish_use_subcommand -a ${first} -d ${JSON.stringify(summary)}`
    : `complete -c kubectl-herald -n __fish_use_subcommand -a ${first}\n` +
      `complete -c kubectl-herald -n "__fish_seen_subcommand_from ${first}" -a ${second} -d ${JSON.stringify(summary)}`;
