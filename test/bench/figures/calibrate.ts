import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { benchApnsSender } from "../messages/apns-sender.ts";

export type Calibration = { pushes: number; warmUp: number };

/**
 * CPU of one push by node:http2 alone, µs, on this machine now. It is measured in a process of its own: compiled code
 * would make the second time cheaper than the first.
 */
export const calibrate = async ({ pushes, warmUp }: Calibration): Promise<number> => {
  const { stdout } = await promisify(execFile)(process.execPath, [thisFile, String(pushes), String(warmUp)]);
  return Number(stdout);
};

const thisFile = fileURLToPath(import.meta.url);

if (import.meta.main) {
  const [pushes, warmUp] = process.argv.slice(2).map(Number);
  if (pushes === undefined || warmUp === undefined) throw new Error("needs how many pushes, and how many before them");
  const { cpuUsPerPush } = await benchApnsSender({ pushes, warmUp, variant: "node:http2" });
  console.log(cpuUsPerPush);
  process.exit(0);
}
