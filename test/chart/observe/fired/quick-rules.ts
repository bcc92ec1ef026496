import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { ruleFiles } from "../../../support/pages/rules.ts";

/**
 * The chart's rules for a test that plants what they are about and waits until they fire, as files in `dir`: they look back a
 * twentieth of the time, a sixtieth where that is hours or days, and wait a second before they fire. Expressions, labels and limits are the chart's own; how long
 * a fault has to last, promtool judges (alerts.test.ts).
 */
export const quickRules = (dir: string): Promise<string[]> =>
  Promise.all(
    ruleFiles.map(async (file) => {
      const text = readFileSync(file, "utf8")
        .replaceAll(/^( +for:) \w+$/gm, "$1 1s")
        .replaceAll(/\[(\d+)([smhd])\]/g, (_all, count: string, unit: string) => `[${shortened(count, unit)}s]`)
        .replaceAll(
          /\boffset (\d+)([smhd])/g,
          (_all, count: string, unit: string) => `offset ${shortened(count, unit)}s`,
        );
      const quick = join(dir, basename(file));
      await writeFile(quick, text);
      return quick;
    }),
  );

const units: Record<string, { seconds: number; by: number }> = {
  s: { seconds: 1, by: 20 },
  m: { seconds: 60, by: 20 },
  h: { seconds: 3_600, by: 60 },
  d: { seconds: 86_400, by: 60 },
};
const leastSeconds = 20; // some scrapes, on a busy machine too

const shortened = (count: string, unit: string): number => {
  const { seconds, by } = units[unit] ?? { seconds: 1, by: 1 };
  return Math.max(leastSeconds, Math.round((Number(count) * seconds) / by));
};
