import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { keptSecrets } from "../../../../dev/demo/settings.ts";

describe("keptSecrets", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "herald-demo-"));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it("makes them once", () => {
    expect(keptSecrets(dir)).to.deep.equal(keptSecrets(dir));
  });

  it("makes a VAPID key of 32 bytes, also when it begins with zeros", () => {
    const lengths = Array.from({ length: 1_000 }, (_, i) => {
      const { vapidPrivateKey } = keptSecrets(join(dir, String(i)));
      return Buffer.from(vapidPrivateKey, "base64url").length;
    });
    expect(new Set(lengths)).to.deep.equal(new Set([32])); // one key in 256 begins with a zero
  });
});
