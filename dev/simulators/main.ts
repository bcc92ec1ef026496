import { join } from "node:path";
import { portBase, stackDir } from "../files/paths.ts";
import { startSimulators } from "./start.ts";

// All provider simulators in one process: node dev/simulators/main.ts [first port of the stack] [folder for accounts]
const [port = portBase(), dir = join(stackDir, "simulators")] = process.argv.slice(2);
const { control, simulators, stop } = await startSimulators({ portBase: Number(port), dir });
for (const { channel, url } of simulators) console.log(`${channel.padEnd(14)}${url}`);
console.log(`${"control".padEnd(14)}${control.url}`);
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop());
