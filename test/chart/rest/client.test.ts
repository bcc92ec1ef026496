import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { rootDir, testDir } from "../../../dev/files/paths.ts";
import { folderOf, openapiTypescript } from "../../../dev/install/packaged-tools.ts";
import { attempt, command } from "../../../dev/processes/run-command.ts";
import { useSite } from "../../support/api/site.ts";
import { blocksOf } from "../../support/pages/blocks.ts";
import { anApiKey, seed } from "../../support/rows/fixtures.ts";

/** As strict as TypeScript can be: people have such projects. */
const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  module: "nodenext",
  target: "es2024",
  types: ["node"],
  typeRoots: [join(rootDir, "node_modules/@types")],
};

describe("a client that is generated from the served document", () => {
  const { site, tenant } = useSite();
  const [source = ""] = blocksOf("api.md").flatMap(({ info, text }) => (info === "ts" ? [text] : []));
  let dir: string;

  before(async () => {
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "client-"));
    await writeFile(join(dir, "package.json"), `{ "type": "module" }`);
    await writeFile(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    await symlink(join(folderOf(openapiTypescript), "node_modules"), join(dir, "node_modules"));
    const tool = join(folderOf(openapiTypescript), openapiTypescript.program);
    await command([tool, `${site.api.url}/v1/openapi.json`, "--output", join(dir, "herald.ts")], { cwd: dir });
  });
  after(() => rm(dir, { recursive: true, force: true }));

  const compile = async (text: string): Promise<string> => {
    await writeFile(join(dir, "client.ts"), text);
    const tsc = join(rootDir, "node_modules/.bin/tsc");
    return (await attempt([tsc, "--project", "."], { cwd: dir })).stdout;
  };

  it("compiles, and sends", async () => {
    expect(await compile(source)).to.equal("");
    const { row, token } = anApiKey({ tenant_id: tenant.tenant._id, app_ids: [tenant.app._id] });
    await seed(site.db, { apiKeys: [row] });
    const env = { BASE: site.api.url, KEY: token };
    const printed = await command([process.execPath, "client.ts"], { cwd: dir, env });
    expect(printed).to.match(/^msg_\w{26}\n$/);
    const refused = await command([process.execPath, "client.ts"], { cwd: dir, env: { ...env, KEY: "hs_nobody" } });
    expect(refused).to.match(/^HS_UNAUTHENTICATED: /);
  });

  it("does not compile with a value of another type, or a path that there is not", async () => {
    expect(await compile(source.replace('["anna"]', '"anna"'))).to.match(/client.ts.*'string' is not assignable/s);
    expect(await compile(source.replace("/v1/notifications", "/v1/notification"))).to.match(
      /client.ts.*"\/v1\/notification"/s,
    );
  });

  it("has every operation", async () => {
    const [types, document] = await Promise.all([
      readFile(join(dir, "herald.ts"), "utf8"),
      fetch(`${site.api.url}/v1/openapi.json`).then((reply) => reply.json() as Promise<{ paths: object }>),
    ]);
    for (const path of Object.keys(document.paths)) expect(types).to.include(`"${path}": {`);
  });
});
