import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { findTool } from "../../../../dev/files/find-tool.ts";
import { command } from "../../../../dev/processes/run-command.ts";
import { firstOf } from "../../../support/pages/runbooks.ts";
import type { SystemProgram } from "../../../support/system/system.ts";
import { until } from "../../../support/until.ts";
import type { Prometheus } from "../prometheus.ts";

export type FirstLook = {
  kubeconfig: string;
  prometheus: Prometheus;
  /** Programs by the component that their pods' labels name. */
  programs: Record<string, readonly SystemProgram[]>;
  withinMs: number;
};

/**
 * Does what an alert's runbook says to do first, until it shows all of `words`: a query by Prometheus, and a command by a shell
 * and the API server. Only `kubectl logs` is not run, which needs a node: the logs of the programs that its selector
 * means are given to the rest of the line.
 */
export const firstLook = async (look: FirstLook, alert: string, words: readonly string[]): Promise<void> => {
  const { language, text } = firstOf(alert) ?? expect.fail(`the runbook of ${alert} does not begin with a command`);
  let shown = "";
  const show = () => (language === "promql" ? queried(look, text) : ran(look, text));
  await until(async () => {
    shown = await show();
    return words.every((word) => shown.includes(word));
  }, look.withinMs).catch(() =>
    expect.fail(`what ${alert} says to look at first shows no ${words.join(", ")}: ${shown}`),
  );
};

const queried = async ({ prometheus }: FirstLook, query: string): Promise<string> =>
  JSON.stringify(await prometheus.query(query));

const ran = async (look: FirstLook, line: string): Promise<string> => {
  const [asked, ...rest] = line.split(" | ");
  const selector = /^kubectl --namespace herald logs --selector (\S+) /.exec(asked ?? "")?.[1];
  if (selector === undefined) return shell(look, line);
  const dir = await mkdtemp(join(tmpdir(), "look-"));
  const file = join(dir, "log");
  await writeFile(file, await logsOf(look, selector));
  return shell(look, [`cat '${file}'`, ...rest].join(" | ")).finally(() => rm(dir, { recursive: true }));
};

/** What `kubectl logs --prefix` would print. */
const logsOf = async ({ programs }: FirstLook, selector: string): Promise<string> => {
  const chosen = Object.entries(programs).filter(([component]) =>
    ["app.kubernetes.io/part-of=herald", `app.kubernetes.io/component=${component}`].includes(selector),
  );
  expect(chosen, selector).to.not.be.empty;
  const logs = await Promise.all(chosen.flatMap(([, some]) => some.map((program) => program.log())));
  return logs
    .flat()
    .map((line) => `[pod/herald/herald] ${JSON.stringify(line)}\n`)
    .join("");
};

/** `grep` ends with 1 when it finds nothing yet. */
const shell = ({ kubeconfig }: FirstLook, line: string): Promise<string> =>
  command(["sh", "-c", `${line} || [ $? = 1 ]`], {
    env: { KUBECONFIG: kubeconfig, PATH: `${dirname(findTool("kubectl") ?? "")}:${process.env["PATH"]}` },
  });
