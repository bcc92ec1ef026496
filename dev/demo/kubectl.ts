import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { bin, rootDir } from "../paths.ts";

/** Runs kubectl with arguments and standard input; answers what it prints. Throws what it complains about. */
export type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

const timeoutMs = 60_000;

/** The real kubectl, for a kubeconfig. Secrets go in by standard input: command lines can be seen by everyone. */
export const kubectlFor =
  (kubeconfig: string): Kubectl =>
  async (args, input = "") => {
    const child = spawn(bin("kubectl"), args, {
      cwd: rootDir,
      env: { ...process.env, KUBECONFIG: kubeconfig },
      timeout: timeoutMs,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const ended = new Promise<number | null>((done, fail) => {
      child.once("error", fail);
      child.once("close", done);
    });
    child.stdin.on("error", () => undefined).end(input); // when it ends early its exit code says why
    const [output, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${complaint.trim() || `ended with ${code}`}`);
    return output;
  };
