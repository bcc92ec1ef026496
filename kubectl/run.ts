import { KubeError } from "#core/runtime/kube/errors.ts";
import { commands } from "./commands.ts";
import { readArguments, text } from "./kit/arguments.ts";
import { type Cluster, openCluster } from "./kit/cluster.ts";
import { type Command, type Given, type Tools, UsageError } from "./kit/command.ts";
import { completion, words } from "./kit/completion.ts";
import { helpOf, helpOfAll } from "./kit/help.ts";

export type Streams = Omit<Tools, "cluster">;

/** Runs `kubectl herald` with what follows these two words; resolves with the exit code. */
export const run = async (args: readonly string[], env: NodeJS.ProcessEnv, streams: Streams): Promise<number> => {
  const [name = "--help", ...rest] = args;
  try {
    if (["--help", "-h", "help"].includes(name)) streams.out(helpOfAll(commands));
    else if (name === "completion") streams.out(completion(rest[0], commands));
    else if (name === "__complete") streams.out(`${[...words(commands, rest), ":4"].join("\n")}\n`);
    else return await runOne(commandOf(name), rest, env, streams);
    return 0;
  } catch (error) {
    return codeOf(error, name, streams);
  }
};

const commandOf = (name: string): Command => {
  const command = commands.find((one) => one.name === name);
  if (command === undefined) throw new UsageError(`there is no command ${JSON.stringify(name)}`);
  return command;
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

const codeOf = (error: unknown, name: string, { err, signal }: Streams): number => {
  if (signal.aborted) return 130;
  if (error instanceof UsageError) {
    const command = commands.find((one) => one.name === name);
    err(`error: ${error.message}\nSee kubectl herald ${command === undefined ? "" : `${name} `}--help\n`);
    return 2;
  }
  if (!(error instanceof KubeError)) throw error;
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  err(`error: ${error.message}${cause}\n`);
  return 3;
};
