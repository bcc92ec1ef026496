import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { rootDir } from "../../../dev/files/paths.ts";

/** Imports that cross the architecture's arrows, and where. */
const forbidden = [
  { it: "a schema that does I/O", file: "core/schema/planted.ts", imports: "node:fs" },
  { it: "a schema that reads a store", file: "core/schema/planted.ts", imports: "../storage/connect.ts" },
  { it: "a decision that reaches for MongoDB", file: "core/domain/planted.ts", imports: "mongodb" },
  {
    it: "a decision that reads a repository",
    file: "core/domain/planted.ts",
    imports: "#core/storage/mongo/connect.ts",
  },
  { it: "core that imports a program", file: "core/queue/planted.ts", imports: "../../dispatcher/plan.ts" },
  { it: "core that reads settings", file: "core/runtime/planted.ts", imports: "#config/shared.ts" },
  { it: "a schema that imports a decision", file: "core/schema/planted.ts", imports: "../domain/ids.ts" },
  { it: "a schema that knows a channel", file: "core/schema/planted.ts", imports: "#core/channels/email/render.ts" },
  { it: "a decision that knows a channel", file: "core/domain/planted.ts", imports: "../channels/email/render.ts" },
  {
    it: "what a program stands on that reads a store",
    file: "core/runtime/process/planted.ts",
    imports: "../../storage/mongo/connect.ts",
  },
  { it: "what a program stands on that publishes", file: "core/runtime/planted.ts", imports: "../queue/outbox.ts" },
  {
    it: "what all nouns are stored by that knows one of them",
    file: "core/storage/mongo/planted.ts",
    imports: "../people/users.ts",
  },
  {
    it: "the work on documents that knows one of them",
    file: "core/storage/work/planted.ts",
    imports: "#core/storage/messages/chunks.ts",
  },
  {
    it: "the work on documents that reads the list",
    file: "core/storage/work/planted.ts",
    imports: "../collections.ts",
  },
  { it: "the apiserver that imports the dispatcher", file: "apiserver/planted.ts", imports: "../dispatcher/plan.ts" },
  { it: "the dispatcher that imports the operator", file: "dispatcher/planted.ts", imports: "../operator/main.ts" },
  {
    it: "a channel that knows another",
    file: "core/channels/ios-push/planted.ts",
    imports: "../email/render.ts",
  },
  {
    it: "a channel's provider that knows another channel's",
    file: "dispatcher/channels/email/planted.ts",
    imports: "../web-push/encryption.ts",
  },
  { it: "the operator that imports the apiserver", file: "operator/planted.ts", imports: "../apiserver/app.ts" },
  { it: "kubectl herald that imports the operator", file: "kubectl/planted.ts", imports: "../operator/kinds/all.ts" },
  { it: "kubectl herald that reads a store", file: "kubectl/planted.ts", imports: "#core/storage/mongo/connect.ts" },
  { it: "core that imports kubectl herald", file: "core/queue/planted.ts", imports: "../../kubectl/run.ts" },
  { it: "settings read beside program.ts", file: "apiserver/planted.ts", imports: "#config/apiserver.ts" },
  { it: "a path that knows a server", file: "dev/files/planted.ts", imports: "../servers/stack.ts" },
  { it: "a process that knows a server", file: "dev/processes/planted.ts", imports: "../servers/stack.ts" },
  { it: "a simulator's kit that knows a simulator", file: "dev/simulators/kit/planted.ts", imports: "../apns.ts" },
  { it: "koa outside of the apiserver", file: "dispatcher/planted.ts", imports: "koa" },
  {
    it: "the Kubernetes client outside of the operator",
    file: "apiserver/planted.ts",
    imports: "@kubernetes/client-node",
  },
  {
    it: "a kind that imports another kind",
    file: "operator/kinds/planted.ts",
    imports: "./app.ts",
  },
  { it: "a kind that imports the program's root", file: "operator/kinds/planted.ts", imports: "../platform.ts" },
  { it: "a record that imports a kind", file: "operator/records/planted.ts", imports: "../kinds/app.ts" },
  { it: "a record that imports a noun's room", file: "operator/records/planted.ts", imports: "../plans/streams.ts" },
  { it: "a record that imports the program's root", file: "operator/records/planted.ts", imports: "../platform.ts" },
  { it: "the engine that imports a kind", file: "operator/engine/planted.ts", imports: "../kinds/all.ts" },
  {
    it: "the engine that imports records, from a room inside it",
    file: "operator/engine/leadership/planted.ts",
    imports: "../../records/record.ts",
  },
  { it: "a policy that imports the engine", file: "operator/policies/planted.ts", imports: "../engine/handler.ts" },
  {
    it: "a policy of a noun that imports a kind",
    file: "operator/policies/webhooks/planted.ts",
    imports: "../../kinds/webhook.ts",
  },
  { it: "operator/kube that imports the engine", file: "operator/kube/planted.ts", imports: "../engine/handler.ts" },
  { it: "a kind that imports the dispatcher", file: "operator/kinds/planted.ts", imports: "../../dispatcher/plan.ts" },
  { it: "a provider's library in the apiserver", file: "apiserver/planted.ts", imports: "nodemailer" },
  {
    it: "the order of checks that knows a feature",
    file: "apiserver/http/planted.ts",
    imports: "../people/feature.ts",
  },
  { it: "the order of checks that knows the list", file: "apiserver/http/planted.ts", imports: "../features.ts" },
  { it: "a check that knows the platform", file: "apiserver/http/middleware/planted.ts", imports: "../../platform.ts" },
  { it: "a check that knows the settings kit", file: "apiserver/http/planted.ts", imports: "../settings/audit.ts" },
  { it: "a check that reads settings", file: "apiserver/http/planted.ts", imports: "#config/apiserver.ts" },
  { it: "a noun that knows another", file: "apiserver/people/planted.ts", imports: "../webhooks/views.ts" },
  { it: "a noun that knows the platform", file: "apiserver/people/planted.ts", imports: "../platform.ts" },
  {
    it: "a noun's inner room that knows another noun",
    file: "apiserver/people/in/planted.ts",
    imports: "../../events/x.ts",
  },
  {
    it: "a noun that imports the dispatcher",
    file: "apiserver/people/planted.ts",
    imports: "../../dispatcher/plan.ts",
  },
  { it: "access that knows the order of checks", file: "apiserver/access/planted.ts", imports: "../http/route.ts" },
  { it: "a limit that knows the order of checks", file: "apiserver/limits/planted.ts", imports: "../http/route.ts" },
  { it: "publishing that knows a noun", file: "apiserver/publishing/planted.ts", imports: "../messages/accept.ts" },
  { it: "accepting that knows a noun", file: "apiserver/accepting/planted.ts", imports: "../messages/draft.ts" },
  { it: "an audience that knows a noun", file: "apiserver/audience/planted.ts", imports: "../messages/draft.ts" },
  { it: "the settings kit that knows a noun", file: "apiserver/settings/planted.ts", imports: "../webhooks/views.ts" },
] as const;

/** Imports that go along them. */
const allowed = [
  { file: "dispatcher/planted.ts", imports: "#core/domain/ids.ts" },
  { file: "apiserver/features.ts", imports: "./people/feature.ts" },
  { file: "apiserver/people/planted.ts", imports: "../http/route.ts" },
  { file: "apiserver/http/middleware/planted.ts", imports: "../../access/caller.ts" },
] as const;

type Found = { filename: string; code: string };

describe("the dependency rule", () => {
  const planted = [...forbidden, ...allowed].map(({ file, imports }, n) => ({
    file: file.replace("planted", `planted-${n}`), // a file for each: all are judged in one run
    imports,
  }));
  let found: Found[];

  before(async () => {
    const dir = await mkdtemp(join(tmpdir(), "herald-lint-"));
    for (const name of [".oxlintrc.json", "tsconfig.json", "package.json"])
      await cp(join(rootDir, name), join(dir, name));
    await symlink(join(rootDir, "node_modules"), join(dir, "node_modules"));
    for (const { file, imports } of planted) {
      await mkdir(join(dir, dirname(file)), { recursive: true });
      await writeFile(join(dir, file), `import * as planted from "${imports}";\nexport const used = planted;\n`);
    }
    found = await lint(dir);
    await rm(dir, { recursive: true, force: true });
  });

  const lint = (dir: string): Promise<Found[]> =>
    new Promise((resolve, reject) => {
      const files = planted.map(({ file }) => file);
      const options = { cwd: dir, maxBuffer: 10_000_000 };
      execFile(join(rootDir, "node_modules/.bin/oxlint"), ["--format=json", ...files], options, (error, stdout) => {
        if (stdout === "") return reject(error ?? new Error("the linter said nothing"));
        const { diagnostics, number_of_files: count } = JSON.parse(stdout) as {
          // what its JSON has
          diagnostics: Found[];
          number_of_files: number;
        };
        if (count !== files.length) return reject(new Error(`the linter judged ${count} of ${files.length} files`));
        resolve(diagnostics);
      });
    });
  const codesOf = (n: number): string[] =>
    found.filter(({ filename }) => filename === planted[n]?.file).map(({ code }) => code);

  for (const [n, { it: what }] of forbidden.entries()) {
    it(`refuses ${what}`, () => {
      expect(codesOf(n)).to.include("eslint(no-restricted-imports)");
    });
  }

  for (const [n, { file, imports }] of allowed.entries()) {
    it(`allows what goes along the arrows: ${imports} in ${file}`, () => {
      expect(codesOf(forbidden.length + n)).to.deep.equal([]);
    });
  }
});
