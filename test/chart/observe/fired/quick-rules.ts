import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { ruleFiles } from "../../../support/pages/rules.ts";

/**
 * The chart's rules for a test that plants what they are about and waits until they fire, as files in `dir`: they look back a
 * twentieth of the time, and wait a second before they fire. Expressions, labels and limits are the chart's own; how long
 * a fault has to last, promtool judges (alerts.test.ts).
 */
export const quickRules = (dir: string): Promise<string[]> =>
  Promise.all(
    ruleFiles.map(async (file) => {
      const text = readFileSync(file, "utf8")
        .replaceAll(/^( +for:) \w+$/gm, "$1 1s")
        .replaceAll(/\[(\d+)([smhd])\]/g, (_all, count: string, unit: string) => `[${twentieth(count, unit)}s]`)
        .replaceAll(
          /\boffset (\d+)([smhd])/g,
          (_all, count: string, unit: string) => `offset ${twentieth(count, unit)}s`,
        );
      const quick = join(dir, basename(file));
      await writeFile(quick, text);
      return quick;
    }),
  );

const seconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const leastSeconds = 20; // some scrapes, on a busy machine too

const twentieth = (count: string, unit: string): number =>
  Math.max(leastSeconds, Math.round((Number(count) * (seconds[unit] ?? 1)) / 20));
