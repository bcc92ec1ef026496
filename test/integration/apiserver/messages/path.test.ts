import { expect } from "chai";
import { freePorts } from "../../../../dev/processes/free-ports.ts";
import { bundleVariable } from "../../../../dev/processes/programs.ts";
import { type Installation, installation } from "../../../support/api/api.ts";
import { filesRun } from "../../../support/api/files-run.ts";
import { aSubscription, seed, seedTenant } from "../../../support/rows/fixtures.ts";

/** Source: docs/contributing/path.md. */
const most = 40;

describe("the path of a notification through the apiserver", () => {
  let site: Installation;
  let run: Awaited<ReturnType<typeof filesRun>>;

  before(async () => {
    const [port = 0] = await freePorts(1);
    site = await installation({ NODE_OPTIONS: `--inspect=127.0.0.1:${port}`, [bundleVariable]: "" });
    run = await filesRun(port);
  });
  after(async () => {
    run?.close();
    await site?.close();
  });

  it(`has at most ${most} files that reading an app and making a user do not have`, async () => {
    const { app, token, tenant } = await seedTenant(site.db);
    const device = aSubscription({ tenant_id: tenant._id, app_id: app._id });
    await seed(site.db, { subscriptions: [device] });
    const body = { app_id: app._id, target: { include_subscription_ids: [device._id] }, contents: { en: "x" } };
    const ask = async (method: string, path: string, more?: object): Promise<void> => {
      const { status } = await site.api.call(method, path, { token, ...(more && { body: more }) });
      expect(status).to.be.within(200, 299);
    };
    const send = () => ask("POST", "/v1/notifications", body);
    const email = { channel: "email", token: "anna@example.com" };
    const register = () => ask("POST", `/v1/apps/${app._id}/users`, { external_id: "anna", subscriptions: [email] });
    const read = () => ask("GET", `/v1/apps/${app._id}/channels`);
    await send(); // fills the caches
    const [sent, others]: [Set<string>[], Set<string>[]] = [[], []];
    for (let round = 0; round < 3; round++) {
      // in turn: what is polled or on a timer falls among the others, too
      sent.push(await run.during(send));
      others.push(await run.during(read), await run.during(register));
    }
    const always = [...(sent[0] ?? [])].filter((file) => sent.every((files) => files.has(file))); // not a timer's
    const own = always.filter((file) => !others.some((files) => files.has(file))).sort();
    expect(own).to.include.members(["apiserver/accepting/accept-message.ts", "core/storage/messages/messages.ts"]);
    expect(own.length, `${always.length} files, of which its own are ${own.join(", ")}`).to.be.at.most(most);
    if (process.env["SHOW_PATH"]) console.log(`${always.length} files, ${own.length} of its own:\n${own.join("\n")}`);
  });
});
