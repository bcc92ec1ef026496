import { expect } from "chai";
import { migrations } from "#core/storage/migrations/all.ts";
import { firstVersion } from "#core/storage/migrations/migration.ts";

describe("the migrations of stored data", () => {
  it("each make the version after the one before", () => {
    expect(migrations.map(({ version }) => version)).to.deep.equal(migrations.map((_, i) => firstVersion + 1 + i));
  });

  it("leave data that the release before can work with, as two neighbouring ones run side by side", () => {
    for (const { version, readableFrom } of migrations) expect(readableFrom, `${version}`).to.be.below(version);
  });
});
