import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { samplesFor } from "../../../../dev/demo/resources.ts";
import { addresses } from "../../../../dev/demo/settings.ts";
import { portBase, rootDir } from "../../../../dev/files/paths.ts";

describe("samplesFor", () => {
  it("gives the samples themselves when the ports are the standard ones", () => {
    const at = addresses(portBase({}));
    expect(samplesFor(portBase({}), "/nowhere")).to.equal("config/samples");
    const webhook = readFileSync(join(rootDir, "config/samples/04-webhook.yaml"), "utf8");
    expect(webhook).to.include(`url: ${at.receiver}/`);
  });

  it("moves the ports of a copy when PORT_BASE is another", () => {
    const dir = mkdtempSync(join(tmpdir(), "herald-samples-"));
    const copy = samplesFor(31_000, dir);
    expect(readFileSync(join(copy, "04-webhook.yaml"), "utf8")).to.include("url: http://127.0.0.1:31015/");
    expect(readFileSync(join(copy, "02-app.yaml"), "utf8")).to.include("port: 31013\n");
    rmSync(dir, { recursive: true });
  });
});
