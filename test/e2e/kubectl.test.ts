import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { strFromU8, unzipSync } from "fflate";
import type { CreateNotificationResult } from "#core/schema/messages/message.ts";
import { allFirst } from "../support/pages/runbooks.ts";
import { ran } from "../unit/kubectl/ran.ts";
import { eventually } from "./support/cluster/cluster.ts";
import { releaseName } from "./support/release.ts";
import { type System, samplesNamespace, system } from "./support/system.ts";

describe("kubectl herald on a cluster with nodes", () => {
  let at: System;
  const herald = (...args: string[]) => ran(args, { env: process.env });

  before(async () => {
    at = await system();
  });

  it("passes every check of an installation that runs", async () => {
    const { code, out } = await herald("check", "-n", releaseName, "--wait", "--timeout", "90s");
    expect(code, out).to.equal(0);
    expect(out)
      .to.match(/programs +pass +6 pods are ready/)
      .and.match(/service +pass +operational/);
  });

  it("shows the samples as a tree, all Ready", async () => {
    const { code, out } = await herald("status", "-n", samplesNamespace);
    expect(code, out).to.equal(0);
    expect(out).to.contain(`App ${samplesNamespace}/shop`);
  });

  it("is beside what runbooks begin with, which kubectl does", async () => {
    const lines = allFirst().filter(({ language }) => language === "sh");
    const asked = lines.map(({ text }) => text.split(" | ", 1)[0]?.split(" ").slice(1) ?? []);
    expect(asked).to.not.be.empty;
    for (const args of asked) expect(await at.cluster.kubectl(args), args.join(" ")).to.not.equal("");
  });

  it("finds the lines of one message in the logs of all pods", async () => {
    const [person] = await at.people();
    const { rest } = await at.client();
    const target = { include_external_ids: [person?.externalId ?? ""], channels: [person?.channel] };
    const body = { target, contents: { en: "Hello" }, email_subject: "Hello", email_body: "Hello" };
    const { id } = await rest.post<CreateNotificationResult>("/v1/notifications", body);
    const lines = await eventually("a line of the message in the logs", 30_000, async () => {
      const { out } = await herald("logs", "-n", releaseName, "--message", id);
      return out.includes("message.ended") ? out.trimEnd().split("\n") : null;
    });
    expect(lines.every((line) => line.includes(id))).to.equal(true);
    const times = lines.map((line) => line.slice(0, 24));
    expect(times).to.deep.equal(times.toSorted());
  });

  it("gathers a report with the logs of all pods, without keys and addresses", async () => {
    const { token } = await at.client();
    const file = join(at.env.dir, "report.zip");
    const { code, out } = await herald("report", "-n", releaseName, file);
    expect(code, out).to.equal(0);
    const files = unzipSync(await readFile(file));
    expect(Object.keys(files).filter((name) => name.startsWith("logs/"))).to.have.length.of.at.least(6);
    expect(Object.keys(files).filter((name) => name.startsWith("metrics/"))).to.have.length.of.at.least(6);
    const text = Object.values(files)
      .map((one) => strFromU8(one))
      .join("\n");
    expect(text).to.contain("request.handled").and.not.contain(token);
    const addresses = (await at.people()).map(({ subscription }) => subscription.token_masked);
    expect(addresses).to.not.be.empty;
    expect(text).to.not.match(/[\w.+-]+@example\.com|\+15005550\d{3}/);
  });
});
