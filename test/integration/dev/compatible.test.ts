import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { breaches, type Promises } from "../../../dev/compatibility/breaches.ts";
import { promises } from "../../../dev/compatibility/promises.ts";
import { keepRelease, lastRelease } from "../../../dev/compatibility/release.ts";
import { bin } from "../../../dev/files/paths.ts";
import { attempt } from "../../../dev/processes/run-command.ts";

type Members = Record<string, unknown>;

describe("what the last release promised", () => {
  const today = promises();
  /** What is said of today's promises with some changes. */
  const after = (...changes: ((kept: Promises) => unknown)[]): Promise<string[]> => {
    const kept = structuredClone(today);
    for (const change of changes) change(kept);
    return breaches(bin("oasdiff"), today, kept);
  };
  const at = (from: object, ...path: string[]): Members =>
    path.reduce((found, name) => found[name] as Members, from as Members); // a wrong path throws
  const propertiesOf = ({ rest }: Promises, name: string): Members =>
    at(rest, "components", "schemas", name, "properties");
  const operation = { get: { responses: { 200: { description: "it" } } } };
  const plans = "/herald.dev/v1alpha1/cluster/plans/Plan";
  const tenants = "/herald.dev/v1alpha1/cluster/tenants/Tenant";
  const body = ["content", "application/json", "schema"];
  const planMembers = ({ kinds }: Promises): Members =>
    at(kinds, "paths", plans, "put", "requestBody", ...body, "properties");

  const breaking: Record<string, [(kept: Promises) => unknown, RegExp]> = {
    "an operation that is gone": [
      ({ rest }) => delete at(rest, "paths", "/v1/notifications")["get"],
      /^GET \/v1\/notifications: api removed/,
    ],
    "a member that is no longer answered": [
      (kept) => delete propertiesOf(kept, "Delivery")["channel"],
      /items\/channel/,
    ],
    "a member that is no longer taken": [(kept) => delete propertiesOf(kept, "CreateWebhook")["headers"], /headers/],
    "a member that must be there now": [
      ({ rest }) => (at(rest, "components", "schemas", "CreateWebhook")["required"] = ["url", "events", "description"]),
      /description.*required/,
    ],
    "a narrower bound": [
      (kept) => (at(propertiesOf(kept, "CreateWebhook"), "url")["maxLength"] = 100),
      /maxLength.*100/,
    ],
    "a value that is no longer taken": [
      (kept) => (at(propertiesOf(kept, "CreateWebhook"), "events", "items")["enum"] = ["message.queued"]),
      /removed the enum value/,
    ],
    "an event without a member": [
      ({ events }) => {
        const members = at(events, "paths", "/event.received", "get", "responses", "200", ...body, "properties");
        delete members[Object.keys(members)[0] ?? ""];
      },
      /^GET \/event.received: removed/,
    ],
    "a kind that is gone": [({ kinds }) => delete kinds.paths[tenants], /^PUT .*tenants\/Tenant: api path removed/],
    "a member of a kind that is gone": [(kept) => delete planMembers(kept)["apiRps"], /apiRps/],
    "a new rule for what was taken": [
      (kept) => (at(planMembers(kept), "retentionDays")["x-kubernetes-validations"] = [{ rule: "self > 5" }]),
      /spec.retentionDays: new rule: self > 5$/,
    ],
  };
  it("is broken by each of some changes, and by nothing else that is said", async () => {
    const said = await after(...Object.values(breaking).map(([change]) => change)); // each starts oasdiff thrice: one run for all
    const unsaid = Object.entries(breaking).filter(([, [, message]]) => !said.some((line) => message.test(line)));
    expect(unsaid.map(([title]) => title)).to.deep.equal([]);
    const messages = Object.values(breaking).map(([, message]) => message);
    expect(said.filter((line) => !messages.some((message) => message.test(line)))).to.deep.equal([]);
  });

  it("is kept by what is added", async () => {
    const said = await after((kept) => {
      propertiesOf(kept, "Delivery")["added"] = { type: "string" };
      propertiesOf(kept, "CreateWebhook")["added"] = { type: "string" };
      planMembers(kept)["added"] = { type: "integer", "x-kubernetes-validations": [{ rule: "self > 5" }] };
      kept.rest.paths["/v1/added"] = operation;
    });
    expect(said).to.deep.equal([]);
  });

  it("is told by the check, but for what is allowed, and that only while it happens", async () => {
    const folder = await mkdtemp(join(tmpdir(), "herald-released-"));
    const check = () => attempt([process.execPath, "dev/compatible.ts", "--folder", folder]);
    try {
      const promised = structuredClone(today);
      promised.rest.paths["/v1/gone"] = operation;
      await keepRelease(folder, "9.8.7", promised);
      expect(await lastRelease(folder)).to.deep.equal({ version: "9.8.7", promised, allowed: [] });
      const line = "GET /v1/gone: api path removed without deprecation";
      expect(await check()).to.deep.include({ code: 1, stdout: `breaks what 9.8.7 promised: ${line}\n` });
      await appendFile(join(folder, "allowed.txt"), `# nobody called it\n${line}\n`);
      expect(await check()).to.deep.include({ code: 0, stdout: "" });
      await attempt([process.execPath, "dev/compatible.ts", "--release", "--folder", folder]);
      expect(await check()).to.deep.include({ code: 0, stdout: "" });
      await appendFile(join(folder, "allowed.txt"), `${line}\n`);
      expect(await check()).to.deep.include({ code: 1, stdout: `allowed.txt allows what does not happen: ${line}\n` });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
