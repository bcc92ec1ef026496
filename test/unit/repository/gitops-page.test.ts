import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { OperatorConfig } from "../../../config/operator.ts";
import { rootDir } from "../../../dev/files/paths.ts";

const page = readFileSync(join(rootDir, "docs/gitops.md"), "utf8").replaceAll("\n", " ");

describe("docs/gitops.md", () => {
  it("says how often what was changed behind a resource's back is set right", () => {
    const { env, default: seconds } = OperatorConfig.properties.resyncSeconds as { env?: string; default?: number };
    const minutes = Number(seconds) / 60;
    expect(page).to.include(`\`${env}\` (${seconds})`);
    expect(page).to.include(`each ${minutes} to ${minutes * 1.5} minutes`); // up to half of it more
  });
});
