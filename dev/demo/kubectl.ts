import { bin } from "../files/paths.ts";
import { command } from "../processes/run-command.ts";

/** Runs kubectl with arguments and standard input; answers what it prints. Throws what it complains about. */
export type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

/** The real kubectl, for a kubeconfig. Secrets go in by standard input: command lines can be seen by everyone. */
export const kubectlFor =
  (kubeconfig: string): Kubectl =>
  (args, input) =>
    command([bin("kubectl"), ...args], { env: { KUBECONFIG: kubeconfig }, input });
