import { KubeError } from "#core/runtime/kube/errors.ts";
import { commands } from "./commands.ts";
import { readArguments, text } from "./kit/arguments.ts";
import { type Cluster, openCluster } from "./kit/cluster.ts";
import type { Command, Given, Tools } from "./kit/command.ts";
import { completion, words } from "./kit/completion.ts";
import { Refused, UsageError } from "./kit/errors.ts";
import { helpOf, helpOfAll } from "./kit/help.ts";

export type Streams = Omit<Tools, "cluster">;

/** Runs `kubectl herald` with what follows these two words; resolves with the exit code. */
export const run = async (args: readonly string[], env: NodeJS.ProcessEnv, streams: Streams): Promise<number> => {
  const [name = "--help", ...rest] = args;
  const command = commands.find((one) => one.name.split(" ").every((word, n) => word === args[n]));
  try {
    if (isHelp(name)) streams.out(helpOfAll(commands));
    else if (name === "completion") streams.out(completion(rest[0], commands));
    else if (name === "__complete") streams.out(`${[...words(commands, rest), ":4"].join("\n")}\n`);
    else if (command === undefined) streams.out(helpOfAll(about(name, rest[0])));
    else return await runOne(command, args.slice(command.name.split(" ").length), env, streams);
    return 0;
  } catch (error) {
    return codeOf(error, command, streams);
  }
};

const isHelp = (word: string): boolean => ["--help", "-h", "help"].includes(word);

/** The commands whose first word is this, for their help. @throws UsageError unless that is asked for */
const about = (first: string, second: string | undefined): readonly Command[] => {
  const found = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (found.length === 0) throw new UsageError(`there is no command ${JSON.stringify(first)}`);
  if (second !== undefined && isHelp(second)) return found;
  throw new UsageError(`${first} takes ${found.map(({ name }) => name.slice(first.length + 1)).join(" or ")}`);
};

const runOne = async (
  command: Command,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  streams: Streams,
): Promise<number> => {
  const given = readArguments(command, args);
  if (given.options["help"] === true) {
    streams.out(helpOf(command));
    return 0;
  }
  const opened: Cluster[] = [];
  const act = await command.load();
  try {
    return await act(given, { ...streams, cluster: () => opened[0] ?? remembered(opened, openFor(given, env)) });
  } finally {
    for (const { client } of opened) client.close();
  }
};

const openFor = (given: Given, env: NodeJS.ProcessEnv): Cluster => {
  const [context, kubeconfig] = [text(given, "context"), text(given, "kubeconfig")];
  return openCluster(env, {
    ...(context !== undefined && { context }),
    ...(kubeconfig !== undefined && { kubeconfig }),
  });
};

const remembered = (opened: Cluster[], cluster: Cluster): Cluster => {
  opened.push(cluster);
  return cluster;
};

const codeOf = (error: unknown, command: Command | undefined, { err, signal }: Streams): number => {
  if (signal.aborted) return 130;
  if (error instanceof UsageError) {
    err(`error: ${error.message}\nSee kubectl herald ${command === undefined ? "" : `${command.name} `}--help\n`);
    return 2;
  }
  if (error instanceof Refused) {
    err(`error: ${error.message}\n`);
    return 3;
  }
  if (!(error instanceof KubeError)) throw error;
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  err(`error: ${error.message}${cause}\n`);
  return 3;
};
