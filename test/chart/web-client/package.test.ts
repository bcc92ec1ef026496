import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import built from "../../../apiserver/web-client/built.json" with { type: "json" };
import { rootDir } from "../../../dev/files/paths.ts";
import { packClient } from "../../../dev/web-client/pack.ts";

const run = promisify(execFile);

const consumer = (call: string): string => `import { herald, type Herald } from "herald-web";
import { showInApp } from "herald-web/in-app";
import "herald-web/inbox";
const app: Herald = herald({ appId: "app_1", url: "https://herald.example" });
export const told: Promise<boolean> = app.${call};
export const stop: Promise<() => void> = showInApp(app).then((showing) => showing.stop);
for (const inbox of document.querySelectorAll("herald-inbox")) inbox.app = app;
`;

const worker = (options: string): string => `import { heraldWorker } from "herald-web/worker";
declare const self: ServiceWorkerGlobalScope;
heraldWorker(self, { ${options} });
`;

describe("the package of the client for browsers", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "herald-web-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("has what the apiserver serves, and types that a site's code is checked with", async () => {
    const archive = await packClient(join(folder, "package"));
    const site = join(folder, "node_modules/herald-web");
    await mkdir(site, { recursive: true });
    await run("tar", ["-xzf", archive, "--strip-components=1", "-C", site]);
    const { stdout } = await run("tar", ["-tzf", archive]);
    for (const name of Object.keys(built)) expect(stdout).to.contain(`package/dist/${name}\n`);
    expect(stdout).not.to.contain("/src/");
    const check = async (code: string, lib: "dom" | "webworker") => {
      await writeFile(join(folder, "site.ts"), code);
      const flags = [
        "--noEmit",
        "--strict",
        "--module",
        "nodenext",
        "--lib",
        `es2022,${lib}`,
        "--types",
        "",
        "site.ts",
      ];
      return run(join(rootDir, "node_modules/.bin/tsc"), flags, { cwd: folder }).then(
        () => null,
        (error: { stdout: string }) => error.stdout,
      );
    };
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    expect(await check(consumer("askForPush()"), "dom")).to.equal(null);
    expect(await check(consumer("askForMoney()"), "dom")).to.contain("askForMoney");
    expect(await check(worker("leavesOthers: true"), "webworker")).to.equal(null);
    expect(await check(worker("leavesNobody: true"), "webworker")).to.contain("leavesNobody");
  });
});
