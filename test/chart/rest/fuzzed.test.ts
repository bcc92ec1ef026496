import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { scopes } from "#core/schema/vocabulary/scopes.ts";
import { folderOf, schemathesis } from "../../../dev/install/packaged-tools.ts";
import { attempt } from "../../../dev/processes/run-command.ts";
import { useSite } from "../../support/api/site.ts";
import { type Things, thingsOf } from "../../support/api/things.ts";
import { anApiKey, seed } from "../../support/rows/fixtures.ts";

/**
 * Schemathesis reads the document as it is served and tries to find what does not hold: replies that it does not
 * describe, data that it forbids and the service takes, or the other way round, keys that are not asked for, things that
 * are there after their deletion. The same seed each time: what it finds can be found again.
 */
describe("the served document, for a tester that knows nothing else", function () {
  this.timeout(700_000);
  const { site, tenant } = useSite(
    { HERALD_OPERATING_TENANT: "operations" },
    { tenant: { name: "operations" }, plan: { api_rps: 100_000 }, app: { idempotency_mismatch: "reject" } },
  );
  let things: Things;
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "herald-schemathesis-"));
    things = await thingsOf(site, tenant);
  });
  after(() => rm(dir, { recursive: true, force: true }));

  /** Nothing when there is nothing to report, else the report. */
  const report = async (known: Things, token: string | null, ...options: string[]): Promise<string> => {
    const judged = await readFile(new URL("schemathesis.toml", import.meta.url), "utf8");
    const ids = Object.entries(known).map(([name, id]) => `"path.${name}" = "${id}"`);
    const config = join(dir, "schemathesis.toml");
    await writeFile(join(dir, "many_links.py"), await readFile(new URL("many_links.py", import.meta.url), "utf8"));
    await writeFile(config, `hooks = "many_links"\n${judged}${ids.join("\n")}\n`);
    const tool = join(folderOf(schemathesis), schemathesis.program);
    const key = token === null ? [] : ["--header", `Authorization: Bearer ${token}`];
    const usual = ["--seed", "1", "--no-color", "--warnings", "off", "--continue-on-failure"];
    const words = [
      tool,
      "--config-file",
      config,
      "run",
      `${site.api.url}/v1/openapi.json`,
      ...key,
      ...usual,
      ...options,
    ];
    const { code, stdout, stderr } = await attempt(words, { cwd: dir, timeoutMs: 600_000 });
    return code === 0 ? "" : `${stdout}\n${stderr}`.slice(-10_000);
  };
  const keep = ["--exclude-method", "DELETE"]; // what the ids name is needed by all others

  it("holds for examples, bounds and what is made up", async () => {
    const said = await report(
      things,
      tenant.token,
      "--phases",
      "examples,coverage,fuzzing",
      "--max-examples",
      "5",
      ...keep,
    );
    expect(said).to.equal("");
  });

  for (const scope of scopes.filter((one) => one !== "admin"))
    it(`holds for a key that may ${scope} only`, async () => {
      const { row, token } = anApiKey({ tenant_id: tenant.tenant._id, scopes: [scope] });
      await seed(site.db, { apiKeys: [row] });
      expect(await report(things, token, "--phases", "examples,fuzzing", "--max-examples", "3", ...keep)).to.equal("");
    });

  it("holds without a key", async () => {
    expect(await report(things, null, "--phases", "examples,fuzzing", "--max-examples", "3")).to.equal("");
  });

  it("holds for one call after another, with the ids that they answer", async () => {
    const { appId = "" } = things;
    const known = { appId, label: "external_id" };
    expect(
      await report(
        known,
        tenant.token,
        "--phases",
        "stateful",
        "--max-examples",
        "50",
        "--exclude-operation-id",
        "deleteApp",
      ),
    ).to.equal("");
  });

  it("holds for what removes things", async () => {
    const options = ["--include-method", "DELETE", "--phases", "examples,coverage,fuzzing", "--max-examples", "5"];
    expect(await report(things, tenant.token, ...options)).to.equal("");
  });
});
