import { expect } from "chai";
import { settingNames, settingSchemas } from "#core/schema/apps/settings.ts";
import { camelCase, ResourceSettings, settingsOfResource } from "#core/schema/apps/settings-resource.ts";
import { structural } from "#core/schema/kubernetes/structural.ts";

describe("the settings of an App resource", () => {
  it("are those of the REST interface in camel case, none with a default: that would count as named", () => {
    const schema = structural(ResourceSettings) as { properties: Record<string, object>; required?: string[] };
    expect(Object.keys(schema.properties)).to.deep.equal(settingNames.map(camelCase));
    expect(schema).not.to.have.property("required");
    const withoutItems = JSON.stringify(schema, (key, value: unknown) => (key === "items" ? undefined : value)); // a list is named whole
    expect(withoutItems).not.to.contain('"default"');
  });

  it("each have a default and a description, as have the members of those that are objects", () => {
    for (const [name, schema] of Object.entries(settingSchemas)) {
      const leaves = "properties" in schema ? Object.values(schema.properties) : [schema];
      for (const leaf of leaves) expect(leaf, name).to.have.property("default");
      for (const one of [schema, ...leaves]) expect(one, name).to.have.property("description");
    }
  });

  it("are read as they are stored, and only those that are named", () => {
    expect(settingsOfResource({ timeZone: "UTC", outcomes: { directMinutes: 5 } })).to.deep.equal({
      time_zone: "UTC",
      outcomes: { direct_minutes: 5 },
    });
    expect(settingsOfResource({})).to.deep.equal({});
  });
});
