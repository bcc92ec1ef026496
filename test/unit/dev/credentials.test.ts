import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { accountsOf } from "#core/channels/accounts.ts";
import { rootDir } from "../../../dev/files/paths.ts";

describe("docs/credentials", () => {
  it("has a command that makes a key for web push as an App takes it", () => {
    const page = readFileSync(join(rootDir, "docs/credentials/web-push.md"), "utf8");
    const [, pipeline = ""] = /^(openssl .*) > private_key$/m.exec(page) ?? [];
    const made = () => execFileSync("bash", ["-o", "pipefail", "-c", pipeline], { stdio: "pipe" }).toString();
    const web = { subject: "mailto:ops@example.com", secretRef: { name: "shop-web" } };
    const [one, other] = [made(), made()];
    expect(one).to.not.equal(other);
    for (const key of [one, other])
      expect(accountsOf({ web }, (_ref, _key, parse) => parse(key)).web_push?.private_key).to.equal(key);
  });
});
