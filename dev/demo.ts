import { mkdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs, styleText } from "node:util";
import { maskPasswords } from "#core/runtime/process/config.ts";
import { bundledPrograms } from "./bundle/bundled-programs.ts";
import { commands } from "./demo/commands.ts";
import { converse } from "./demo/conversation.ts";
import { eventually } from "./demo/eventually.ts";
import { exportSubscriptions } from "./demo/export.ts";
import { importPlayers, importSummary } from "./demo/import.ts";
import { type Kubectl, kubectlFor } from "./demo/kubectl.ts";
import { type Person, register } from "./demo/people.ts";
import { phase, seconds } from "./demo/phase.ts";
import { ensureRunning, programProcess, simulatorProcesses } from "./demo/processes.ts";
import {
  applyCrds,
  applySamples,
  appSecrets,
  awaitReady,
  installationFor,
  readSecret,
  samplesFor,
} from "./demo/resources.ts";
import { type Rest, RestError, restClient } from "./demo/rest.ts";
import { type Evidence, sendTo } from "./demo/send.ts";
import { type Addresses, addresses, keptSecrets, kubeconfigOf, programSettings } from "./demo/settings.ts";
import { missing, table } from "./demo/table.ts";
import { portBase as portBaseOf, stackDir } from "./files/paths.ts";
import { withLock } from "./processes/lock.ts";
import { bundleVariable, type ProgramName } from "./processes/programs.ts";
import { type Stack, startStack } from "./servers/stack.ts";
import { keptCredentials } from "./simulators/kit/credentials.ts";

// `make demo`: the whole system on this machine, one message on each channel, a table of what became of them. Everything
// goes on running. What it starts is recorded first thing and found again, so it can be killed and run again.
const demo = async (dir: string, portBase: number): Promise<readonly string[]> => {
  const beganAt = performance.now();
  const at = addresses(portBase);
  const found = await startServers(dir, portBase, at);
  const kubeconfig = kubeconfigOf(found);
  const place: Place = { dir, portBase, at, kubectl: kubectlFor(kubeconfig) };
  await startPrograms(place, found);
  const { rest, appId } = await connect(place);
  const people = await phase("Users and subscriptions registered over REST", () => register(rest, appId, { dir, at }));
  const imported = await phase("A file of users imported", () => importPlayers(rest, appId));
  const rows = await phase("One notification sent on each channel", () => sendToAll(people, rest, at));
  const talk = await phase("A person answered on WhatsApp by a bot, then by Ada", () => converse({ rest, at, appId }));
  const file = await phase("Subscriptions exported as CSV, to S3", () => exportSubscriptions(rest, appId));
  console.log(`\n${table(rows)}\n`);
  console.log(`${styleText("dim", "# The import")}\n${importSummary(imported)}\n`);
  console.log(`${styleText("dim", "# The conversation, docs/conversations.md")}\n${talk.join("\n")}\n`);
  console.log(`${styleText("dim", "# The export, downloaded from its signed address")}\n${file.join("\n")}\n`);
  const lacking = missing(rows);
  if (lacking.length > 0) return lacking.concat(`logs: ${relative(process.cwd(), join(dir, "logs"))}`);
  console.log(`Done in ${seconds(beganAt)}. Everything goes on running:\n`);
  console.log(whereabouts(at, found));
  for (const { about, command } of commands(at, kubeconfig))
    console.log(`\n${styleText("dim", `# ${about}`)}\n${command}`);
  console.log(`\n${styleText("dim", "# Stop it all; data stays")}\nmake down`);
  console.log(`\n${styleText("dim", "# Register your own browser, and get a push")}\n${at.shop}/`);
  return [];
};

type Place = { dir: string; portBase: number; at: Addresses; kubectl: Kubectl };

/** Side by side: the servers, what stands for the providers, and the bundles of the programs. */
const startServers = async (dir: string, portBase: number, at: Addresses): Promise<Stack["found"]> => {
  keptCredentials(join(dir, "simulators")); // the programs trust its certificate
  const [{ found }, , bundles] = await Promise.all([
    phase("MongoDB, NATS, Redis, S3 and Kubernetes API", () => startStack({ dir, portBase })),
    phase("Provider simulators and webhook receiver", () =>
      Promise.all(simulatorProcesses(dir, portBase, at).map((wanted) => ensureRunning(dir, wanted))),
    ),
    process.env[bundleVariable] ? {} : bundledPrograms(),
  ]);
  Object.assign(process.env, bundles);
  return found;
};

/** The operator watches the kinds that the CRDs make; it finds the samples, which are applied while it starts. */
const startPrograms = async ({ dir, portBase, at, kubectl }: Place, found: Stack["found"]): Promise<void> => {
  const installation = await phase("CustomResourceDefinitions applied", async () => {
    const [name] = await Promise.all([installationFor(kubectl), applyCrds(kubectl)]);
    return name;
  });
  const settings = programSettings({ dir, at, found, installation, keyRing: keptSecrets(dir).keyRing });
  const start = (program: ProgramName): Promise<unknown> =>
    ensureRunning(dir, programProcess(dir, program, at, settings[program]));
  const secrets = appSecrets(keptCredentials(join(dir, "simulators")), keptSecrets(dir), at);
  await Promise.all([
    phase("config/samples applied", () => applySamples(kubectl, samplesFor(portBase, dir), secrets)),
    phase("operator, apiserver and dispatcher", () => Promise.all(programNames.map(start))),
  ]);
};

const programNames = ["operator", "apiserver", "dispatcher"] as const;

/** Waits for the samples; answers with what an application gets to know: its connection Secret. */
const connect = async ({ dir, portBase, at, kubectl }: Place): Promise<{ rest: Rest; appId: string }> => {
  await phase("config/samples Ready", (note) => awaitReady(kubectl, samplesFor(portBase, dir), note));
  const { token = "", base_url: baseUrl = "", app_id: appId = "" } = await readSecret(kubectl, "shop-backend");
  const { secret = "" } = await readSecret(kubectl, "shop-events-signing");
  await fetch(`${at.receiver}/secrets`, { method: "POST", body: secret });
  await fetch(`${at.shop}/account`, { method: "POST", body: JSON.stringify({ url: at.rest, token, appId }) });
  const rest = restClient({ baseUrl, token });
  await phase("The API key of the connection Secret works", () => awaitKey(rest, appId));
  return { rest, appId };
};

const keyWorksWithinMs = 30_000; // the store may be younger than the resources: the operator fills it again

const awaitKey = async (rest: Rest, appId: string): Promise<void> => {
  const tryKey = (): Promise<unknown> => rest.get(`/v1/notifications?app_id=${appId}&limit=1`);
  const works = await eventually(async () => {
    try {
      return await tryKey();
    } catch (error) {
      if (error instanceof RestError && [401, 404].includes(error.status)) return null;
      throw error;
    }
  }, keyWorksWithinMs);
  if (works === null) await tryKey(); // throws what it is answered
};

const sendToAll = (people: readonly Person[], rest: Rest, at: Addresses): Promise<Evidence[]> =>
  Promise.all(people.map((person) => sendTo(person, rest, at)));

const whereabouts = (at: Addresses, found: Stack["found"]): string => {
  const lines = [
    ["REST interface", at.rest],
    [
      "Metrics, health",
      `${at.apiserver} apiserver, ${at.dispatcher} dispatcher, ${at.operator} operator: /metrics, /readyz`,
    ],
    ["Simulators", `${at.control}/received lists what the providers received`],
    ["Webhooks", `${at.receiver}/received lists what the receiver was sent`],
    [
      "Servers",
      maskPasswords([found.mongodb, found.nats, found.redis, found.s3].map((server) => server?.address).join("  ")),
    ],
  ];
  return lines.map(([what = "", where]) => `  ${what.padEnd(17)}${where}`).join("\n");
};

const { positionals } = parseArgs({ allowPositionals: true });
const dir = resolve(positionals[0] ?? stackDir);
mkdirSync(dir, { recursive: true });
try {
  const lacking = await withLock(join(dir, "demo.lock"), () => demo(dir, portBaseOf()));
  for (const line of lacking) console.error(`herald: ${line}`);
  process.exit(lacking.length === 0 ? 0 : 1);
} catch (error) {
  console.error(`herald: ${(error as Error).message}`);
  process.exit(1);
}
